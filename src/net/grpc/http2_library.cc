#include "net/grpc/http2_library.h"

#include <array>
#include <span>
#include <vector>

#include "base/check.h"

namespace trainyard::grpc {

namespace {

constexpr std::uint32_t kStreamWindowBytes = 256U << 10U;
constexpr std::int32_t kConnectionWindowBytes = 1 << 20;
// What a client may make the library keep or do; beyond it, the library ends the connection.
constexpr std::size_t kUnsentAcksMax = 100;   // of SETTINGS and PING
constexpr std::size_t kSettingsMax = 32;      // in one frame
constexpr std::size_t kContinuationsMax = 8;  // of one head
constexpr std::uint64_t kResetsAtOnce = 100;  // by the client
constexpr std::uint64_t kResetsPerSecond = 10;

Http2Events& EventsOf(void* user) { return *static_cast<Http2Events*>(user); }

std::string_view ViewOf(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

bool IsRequestHead(const nghttp2_frame& frame) {
  return frame.hd.type == NGHTTP2_HEADERS && frame.headers.cat == NGHTTP2_HCAT_REQUEST;
}

bool EndsStream(const nghttp2_frame& frame) {
  const bool may = frame.hd.type == NGHTTP2_HEADERS || frame.hd.type == NGHTTP2_DATA;
  return may && (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
}

int OnFrame(nghttp2_session* /*session*/, const nghttp2_frame* frame, void* user) {
  Http2Events& events = EventsOf(user);
  if (frame->hd.type == NGHTTP2_SETTINGS) events.OnSettings();
  if (IsRequestHead(*frame)) events.OnHead(frame->hd.stream_id);
  if (EndsStream(*frame)) events.OnEnd(frame->hd.stream_id);
  return 0;
}

/// nghttp2 copies both.
std::vector<nghttp2_nv> Listed(const Fields& fields) {
  const auto bytes = [](const std::string& text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  std::vector<nghttp2_nv> listed;
  listed.reserve(fields.size());
  for (const auto& [name, value] : fields)
    listed.push_back({bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
  return listed;
}

ssize_t TakeBody(nghttp2_session* session, std::int32_t id, std::uint8_t* buffer, std::size_t size,
                 std::uint32_t* flags, nghttp2_data_source* /*source*/, void* user) {
  CallStream* stream = EventsOf(user).Find(id);
  if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  const std::size_t count = stream->TakeBody({buffer, size});
  if (stream->is_body_taken()) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (const auto trailers = Listed(stream->answer.trailers); !trailers.empty()) {
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      if (::nghttp2_submit_trailer(session, id, trailers.data(), trailers.size()) != 0)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
  }
  return static_cast<ssize_t>(count);
}

struct CallbacksDeleter {
  void operator()(nghttp2_session_callbacks* callbacks) const noexcept {
    ::nghttp2_session_callbacks_del(callbacks);
  }
};

std::unique_ptr<nghttp2_session_callbacks, CallbacksDeleter> MakeCallbacks() {
  nghttp2_session_callbacks* callbacks = nullptr;
  TY_CHECK(::nghttp2_session_callbacks_new(&callbacks) == 0);
  ::nghttp2_session_callbacks_set_on_begin_headers_callback(
      callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        if (IsRequestHead(*frame)) EventsOf(user).OnBegin(frame->hd.stream_id);
        return 0;
      });
  ::nghttp2_session_callbacks_set_on_header_callback(
      callbacks,
      [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
         const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user) {
        if (IsRequestHead(*frame))
          EventsOf(user).OnField(frame->hd.stream_id, ViewOf(name, name_size), ViewOf(value, value_size));
        return 0;
      });
  ::nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
  ::nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      callbacks, [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                    std::size_t size, void* user) {
        EventsOf(user).OnData(id, ViewOf(data, size));
        return 0;
      });
  ::nghttp2_session_callbacks_set_on_frame_send_callback(
      callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        if (EndsStream(*frame)) EventsOf(user).OnAnswerSent(frame->hd.stream_id);
        return 0;
      });
  ::nghttp2_session_callbacks_set_on_stream_close_callback(
      callbacks, [](nghttp2_session*, std::int32_t id, std::uint32_t error, void* user) {
        EventsOf(user).OnClosed(id, error);
        return 0;
      });
  return std::unique_ptr<nghttp2_session_callbacks, CallbacksDeleter>(callbacks);
}

}  // namespace

Http2Pointer MakeHttp2(Http2Events& events, const Http2Limits& limits) {
  nghttp2_option* option = nullptr;
  TY_CHECK(::nghttp2_option_new(&option) == 0);
  ::nghttp2_option_set_no_closed_streams(option, 1);
  ::nghttp2_option_set_max_outbound_ack(option, kUnsentAcksMax);
  ::nghttp2_option_set_max_settings(option, kSettingsMax);
  ::nghttp2_option_set_max_continuations(option, kContinuationsMax);
  ::nghttp2_option_set_stream_reset_rate_limit(option, kResetsAtOnce, kResetsPerSecond);
  nghttp2_session* made = nullptr;
  TY_CHECK(::nghttp2_session_server_new2(&made, MakeCallbacks().get(), &events, option) == 0);
  ::nghttp2_option_del(option);
  Http2Pointer session(made);
  // Without the old priorities the library keeps no idle streams for a client's tree of them.
  const std::array<nghttp2_settings_entry, 4> settings{
      {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.streams_max},
       {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindowBytes},
       {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(limits.header_bytes_max)},
       {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1}}};
  TY_CHECK(::nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, settings.data(), settings.size()) == 0);
  TY_CHECK(::nghttp2_session_set_local_window_size(made, NGHTTP2_FLAG_NONE, 0, kConnectionWindowBytes) == 0);
  return session;
}

void SubmitAnswer(nghttp2_session& session, const CallStream& stream) {
  const std::vector<nghttp2_nv> fields = Listed(stream.answer.fields);
  nghttp2_data_provider provider{};
  provider.read_callback = TakeBody;
  const bool has_body = !stream.answer.body.empty();
  ::nghttp2_submit_response(&session, stream.id, fields.data(), fields.size(),
                            has_body ? &provider : nullptr);
}

}  // namespace trainyard::grpc
