#include "net/grpc/testing/test_client.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "base/check.h"

namespace trainyard::grpc {

namespace {

std::string TextOf(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

TestClient::TestClient(const boost::asio::any_io_executor& executor,
                       std::unique_ptr<http::Transport> transport)
    : transport_(std::move(transport)), to_send_(executor) {
  nghttp2_session_callbacks* callbacks = MakeCallbacks();
  nghttp2_option* option = nullptr;
  TY_CHECK(::nghttp2_option_new(&option) == 0);
  // The server's limit of concurrent streams, not the library's guess of it, is what the tests are about.
  ::nghttp2_option_set_peer_max_concurrent_streams(option, 1'000'000);
  TY_CHECK(::nghttp2_session_client_new2(&session_, callbacks, this, option) == 0);
  ::nghttp2_option_del(option);
  ::nghttp2_session_callbacks_del(callbacks);
  TY_CHECK(::nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0) == 0);
}

TestClient::~TestClient() { ::nghttp2_session_del(session_); }

nghttp2_session_callbacks* TestClient::MakeCallbacks() {
  nghttp2_session_callbacks* callbacks = nullptr;
  TY_CHECK(::nghttp2_session_callbacks_new(&callbacks) == 0);
  ::nghttp2_session_callbacks_set_on_header_callback(
      callbacks,
      [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
         const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user) {
        TestAnswer& answer = Of(user).answers_[frame->hd.stream_id];
        const std::string text = TextOf(value, value_size);
        if (frame->headers.cat == NGHTTP2_HCAT_RESPONSE) answer.fields[TextOf(name, name_size)] = text;
        answer.trailers[TextOf(name, name_size)] = text;
        return 0;
      });
  ::nghttp2_session_callbacks_set_on_frame_recv_callback(
      callbacks,
      [](nghttp2_session*, const nghttp2_frame* frame, void* user) { return Of(user).OnFrame(*frame); });
  ::nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      callbacks, [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                    std::size_t size, void* user) {
        Of(user).answers_[id].body += TextOf(data, size);
        return 0;
      });
  ::nghttp2_session_callbacks_set_on_stream_close_callback(
      callbacks, [](nghttp2_session*, std::int32_t id, std::uint32_t error, void* user) {
        Of(user).answers_[id].closed = error;
        return 0;
      });
  return callbacks;
}

int TestClient::OnFrame(const nghttp2_frame& frame) {
  if (frame.hd.type == NGHTTP2_GOAWAY) goaway_ = frame.goaway.error_code;
  if (frame.hd.type == NGHTTP2_PING && (frame.hd.flags & NGHTTP2_FLAG_ACK) != 0) ++pongs_;
  return 0;
}

boost::asio::awaitable<void> TestClient::Read() {
  std::array<std::byte, 16'384> buffer{};
  while (true) {
    const Result<std::size_t> count = co_await transport_->ReadSome(buffer);
    if (!count || *count == 0) break;
    const auto used =
        ::nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(buffer.data()), *count);
    if (used < 0) break;
    to_send_.Set();
  }
  over_ = true;
  to_send_.Set();
}

boost::asio::awaitable<void> TestClient::Write() {
  while (!over_) {
    to_send_.Reset();
    const std::uint8_t* data = nullptr;
    const auto size = ::nghttp2_session_mem_send(session_, &data);
    if (size < 0) break;
    if (size == 0) {
      co_await to_send_.Wait();
      continue;
    }
    const std::string bytes = TextOf(data, static_cast<std::size_t>(size));
    sent_ += bytes;
    std::string_view rest = bytes;
    while (!rest.empty()) {
      const Result<std::size_t> written = co_await transport_->WriteSome(rest, {});
      if (!written) co_return;
      rest.remove_prefix(*written);
    }
  }
}

std::int32_t TestClient::Ask(TestRequest request) {
  std::vector<std::pair<std::string, std::string>> fields{
      {":method", request.method}, {":scheme", "https"}, {":authority", "aiplatform.example:443"},
      {":path", request.path},     {"te", "trailers"},   {"content-type", request.content_type}};
  fields.insert(fields.end(), request.fields.begin(), request.fields.end());
  std::vector<nghttp2_nv> listed;
  for (auto& [name, value] : fields) {
    listed.push_back({reinterpret_cast<std::uint8_t*>(name.data()),
                      reinterpret_cast<std::uint8_t*>(value.data()), name.size(), value.size(),
                      NGHTTP2_NV_FLAG_NONE});
  }
  nghttp2_data_provider provider{};
  provider.read_callback = [](nghttp2_session*, std::int32_t id, std::uint8_t* buffer, std::size_t size,
                              std::uint32_t* flags, nghttp2_data_source*,
                              void* user) { return Of(user).Take(id, buffer, size, flags); };
  const bool has_body = !request.body.empty() || !request.ends;
  const std::int32_t id = ::nghttp2_submit_request(session_, nullptr, listed.data(), listed.size(),
                                                   has_body ? &provider : nullptr, nullptr);
  TY_CHECK(id > 0);
  bodies_[id] = {.bytes = std::move(request.body), .ends = request.ends};
  to_send_.Set();
  return id;
}

ssize_t TestClient::Take(std::int32_t id, std::uint8_t* buffer, std::size_t size, std::uint32_t* flags) {
  Body& body = bodies_[id];
  const std::size_t count = std::min(size, body.bytes.size() - body.begin);
  std::memcpy(buffer, body.bytes.data() + body.begin, count);
  body.begin += count;
  if (body.begin == body.bytes.size()) {
    if (body.ends) *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!body.ends && count == 0) return NGHTTP2_ERR_DEFERRED;
  }
  return static_cast<ssize_t>(count);
}

void TestClient::Reset(std::int32_t id) {
  ::nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  to_send_.Set();
}

void TestClient::Ping() {
  ::nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
  to_send_.Set();
}

void TestClient::Close() { transport_->Close(); }

}  // namespace trainyard::grpc
