#include "net/mux/session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>
#include <cstring>
#include <map>
#include <utility>

#include "base/async/event.h"
#include "base/async/task_group.h"
#include "base/check.h"

namespace trainyard::mux {

namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
constexpr std::int32_t kConnectionWindowBytes =
    0x7fffffff;  // each stream has its own, and there are not many
constexpr std::string_view kPathField = ":path";

Error Over() { return Unavailable("the connection is over"); }

nghttp2_nv Field(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));  // nghttp2 copies them
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

struct SessionDeleter {
  void operator()(nghttp2_session* session) const noexcept { ::nghttp2_session_del(session); }
};

}  // namespace

/// State shared by the session and the Stream object while the stream is open.
struct Flow {
  explicit Flow(const asio::any_io_executor& executor) : readable(executor), writable(executor) {}

  std::int32_t id = -1;
  std::string path;
  std::string in;  ///< received, not read yet
  std::size_t in_begin = 0;
  std::string out;  ///< waiting to be sent
  std::size_t out_begin = 0;
  bool in_ended = false;
  bool out_ended = false;
  bool over = false;  ///< reset, or the connection is lost
  Event readable;     ///< bytes, an end, or over
  Event writable;     ///< room in `out`, or over

  [[nodiscard]] std::size_t WaitingIn() const { return in.size() - in_begin; }
  [[nodiscard]] std::size_t WaitingOut() const { return out.size() - out_begin; }
  void End() {
    over = true;
    readable.Set();
    writable.Set();
  }
};

struct Session::State : std::enable_shared_from_this<Session::State> {
  State(asio::any_io_executor used_executor, std::unique_ptr<http::Transport> used_transport, Side used_side,
        Options used_options)
      : executor(std::move(used_executor)),
        transport(std::move(used_transport)),
        side(used_side),
        options(std::move(used_options)),
        to_send(executor),
        heard(executor),
        tasks(executor) {}

  void Start();
  asio::awaitable<void> Send();
  asio::awaitable<void> Watch();
  asio::awaitable<Ending> Receive();
  void EndStreams();
  void Add(std::shared_ptr<Flow> stream);
  [[nodiscard]] Flow* Find(std::int32_t id) const {
    const auto found = streams.find(id);
    return found == streams.end() ? nullptr : found->second.get();
  }
  nghttp2_data_provider Provider();

  // nghttp2's callbacks
  int OnHeader(const nghttp2_frame& frame, std::string_view name, std::string_view value);
  int OnFrame(const nghttp2_frame& frame);
  int OnData(std::int32_t id, std::string_view bytes);
  int OnClose(std::int32_t id);
  ssize_t Take(std::int32_t id, std::span<std::uint8_t> buffer, std::uint32_t* flags);

  asio::any_io_executor executor;
  std::unique_ptr<http::Transport> transport;
  const Side side;
  const Options options;
  std::unique_ptr<nghttp2_session, SessionDeleter> session;
  std::map<std::int32_t, std::shared_ptr<Flow>> streams;
  Event to_send;
  Event heard;
  Ending ending = Ending::kClosed;
  bool over = false;
  TaskGroup tasks;
};

namespace {

Session::State& StateOf(void* user) { return *static_cast<Session::State*>(user); }

class OpenStream final : public Stream {
 public:
  OpenStream(std::shared_ptr<Session::State> session, std::shared_ptr<Flow> flow)
      : session_(std::move(session)), flow_(std::move(flow)) {}
  ~OpenStream() override { Reset(); }

  asio::awaitable<Result<std::size_t>> Read(std::span<char> buffer) override {
    while (flow_->WaitingIn() == 0 && !flow_->in_ended && !flow_->over) {
      flow_->readable.Reset();
      co_await flow_->readable.Wait();
    }
    const std::size_t count = std::min(buffer.size(), flow_->WaitingIn());
    if (count == 0) {
      if (flow_->in_ended) co_return 0U;
      co_return std::unexpected(Over());
    }
    std::memcpy(buffer.data(), flow_->in.data() + flow_->in_begin, count);
    flow_->in_begin += count;
    if (flow_->WaitingIn() == 0) {
      flow_->in.clear();
      flow_->in_begin = 0;
    }
    Consume(count);
    co_return count;
  }

  asio::awaitable<Status> Write(std::string_view bytes) override {
    while (!bytes.empty()) {
      while (flow_->WaitingOut() >= kStreamWindowBytes && !flow_->over) {
        flow_->writable.Reset();
        co_await flow_->writable.Wait();
      }
      if (flow_->over || flow_->out_ended) co_return std::unexpected(Over());
      const std::size_t count = std::min(bytes.size(), kStreamWindowBytes - flow_->WaitingOut());
      flow_->out.erase(0, std::exchange(flow_->out_begin, 0));
      flow_->out.append(bytes.substr(0, count));
      bytes.remove_prefix(count);
      GoOn();
    }
    co_return Status();
  }

  void CloseWrite() override {
    if (std::exchange(flow_->out_ended, true) || flow_->over) return;
    GoOn();
  }

  void Reset() override {
    Consume(std::exchange(flow_->in, {}).size() - std::exchange(flow_->in_begin, 0));
    if (flow_->over) return;
    const bool is_done = flow_->in_ended && flow_->out_ended && flow_->WaitingOut() == 0;
    flow_->End();
    if (is_done) return;
    ::nghttp2_submit_rst_stream(session_->session.get(), NGHTTP2_FLAG_NONE, flow_->id, NGHTTP2_CANCEL);
    session_->to_send.Set();
  }

 private:
  /// Lets the other side send this many more bytes, on the connection and on the stream if it still exists.
  void Consume(std::size_t count) {
    if (count == 0) return;
    ::nghttp2_session_consume(session_->session.get(), flow_->id, count);
    session_->to_send.Set();
  }
  void GoOn() {
    ::nghttp2_session_resume_data(session_->session.get(), flow_->id);
    session_->to_send.Set();
  }

  std::shared_ptr<Session::State> session_;
  std::shared_ptr<Flow> flow_;
};

}  // namespace

nghttp2_data_provider Session::State::Provider() {
  nghttp2_data_provider provider{};
  provider.read_callback = [](nghttp2_session*, std::int32_t id, std::uint8_t* buffer, std::size_t size,
                              std::uint32_t* flags, nghttp2_data_source*,
                              void* user) { return StateOf(user).Take(id, {buffer, size}, flags); };
  return provider;
}

void Session::State::Start() {
  nghttp2_session_callbacks* callbacks = nullptr;
  TY_CHECK(::nghttp2_session_callbacks_new(&callbacks) == 0);
  ::nghttp2_session_callbacks_set_on_header_callback(
      callbacks,
      [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
         const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user) {
        return StateOf(user).OnHeader(*frame, {reinterpret_cast<const char*>(name), name_size},
                                      {reinterpret_cast<const char*>(value), value_size});
      });
  ::nghttp2_session_callbacks_set_on_frame_recv_callback(
      callbacks,
      [](nghttp2_session*, const nghttp2_frame* frame, void* user) { return StateOf(user).OnFrame(*frame); });
  ::nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      callbacks,
      [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data, std::size_t size,
         void* user) { return StateOf(user).OnData(id, {reinterpret_cast<const char*>(data), size}); });
  ::nghttp2_session_callbacks_set_on_stream_close_callback(
      callbacks,
      [](nghttp2_session*, std::int32_t id, std::uint32_t, void* user) { return StateOf(user).OnClose(id); });
  nghttp2_option* option = nullptr;
  TY_CHECK(::nghttp2_option_new(&option) == 0);
  ::nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_session* made = nullptr;
  const int status = side == Side::kOpens ? ::nghttp2_session_client_new2(&made, callbacks, this, option)
                                          : ::nghttp2_session_server_new2(&made, callbacks, this, option);
  TY_CHECK(status == 0);
  session.reset(made);
  ::nghttp2_option_del(option);
  ::nghttp2_session_callbacks_del(callbacks);
  const std::array<nghttp2_settings_entry, 2> settings{
      {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kStreamsMax},
       {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<std::uint32_t>(kStreamWindowBytes)}}};
  TY_CHECK(::nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, settings.data(), settings.size()) == 0);
  TY_CHECK(::nghttp2_session_set_local_window_size(made, NGHTTP2_FLAG_NONE, 0, kConnectionWindowBytes) == 0);
}

int Session::State::OnHeader(const nghttp2_frame& frame, std::string_view name, std::string_view value) {
  if (side != Side::kIsOpened || name != kPathField) return 0;
  if (value.size() > kPathBytesMax) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  auto stream = std::make_shared<Flow>(executor);
  stream->id = frame.hd.stream_id;
  stream->path = value;
  Add(std::move(stream));
  return 0;
}

void Session::State::Add(std::shared_ptr<Flow> stream) { streams[stream->id] = std::move(stream); }

int Session::State::OnFrame(const nghttp2_frame& frame) {
  const std::int32_t id = frame.hd.stream_id;
  const auto found = streams.find(id);
  if (found == streams.end()) return 0;
  const std::shared_ptr<Flow> stream = found->second;
  const bool is_new = side == Side::kIsOpened && frame.hd.type == NGHTTP2_HEADERS &&
                      frame.headers.cat == NGHTTP2_HCAT_REQUEST;
  if (is_new) {
    const std::array fields{Field(":status", "200")};
    const nghttp2_data_provider provider = Provider();
    ::nghttp2_submit_response(session.get(), id, fields.data(), fields.size(), &provider);
    to_send.Set();
    if (options.on_stream)
      options.on_stream(stream->path, std::make_shared<OpenStream>(shared_from_this(), stream));
  }
  if ((frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
    stream->in_ended = true;
    stream->readable.Set();
  }
  return 0;
}

int Session::State::OnData(std::int32_t id, std::string_view bytes) {
  Flow* stream = Find(id);
  if (stream == nullptr || stream->over) {  // nobody reads it
    ::nghttp2_session_consume(session.get(), id, bytes.size());
    return 0;
  }
  stream->in.append(bytes);
  stream->readable.Set();
  return 0;
}

int Session::State::OnClose(std::int32_t id) {
  const auto found = streams.find(id);
  if (found == streams.end()) return 0;
  const std::shared_ptr<Flow> stream = found->second;
  streams.erase(found);
  // Bytes that were received can still be read.
  if (!stream->over) stream->End();
  return 0;
}

ssize_t Session::State::Take(std::int32_t id, std::span<std::uint8_t> buffer, std::uint32_t* flags) {
  Flow* stream = Find(id);
  if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  const std::size_t count = std::min(buffer.size(), stream->WaitingOut());
  std::memcpy(buffer.data(), stream->out.data() + stream->out_begin, count);
  stream->out_begin += count;
  if (stream->WaitingOut() == 0) {
    stream->out.clear();
    stream->out_begin = 0;
  }
  if (stream->WaitingOut() < kStreamWindowBytes) stream->writable.Set();
  if (stream->out_ended && stream->WaitingOut() == 0) *flags |= NGHTTP2_DATA_FLAG_EOF;
  if (count == 0 && (*flags & NGHTTP2_DATA_FLAG_EOF) == 0) return NGHTTP2_ERR_DEFERRED;
  return static_cast<ssize_t>(count);
}

asio::awaitable<void> Session::State::Send() {
  for (;;) {
    to_send.Reset();
    const std::uint8_t* data = nullptr;
    const ssize_t size = ::nghttp2_session_mem_send(session.get(), &data);
    if (size < 0) break;
    if (size == 0) {
      co_await to_send.Wait();
      continue;
    }
    const std::string bytes(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
    std::string_view rest = bytes;
    while (!rest.empty()) {
      const Result<std::size_t> written = co_await transport->WriteSome(rest, {});
      if (!written) co_return transport->Close();
      rest.remove_prefix(*written);
    }
  }
  transport->Close();
}

/// Sends pings while nothing arrives, and ends the connection if there is no reply.
asio::awaitable<void> Session::State::Watch() {
  std::chrono::milliseconds silent{0};
  for (;;) {
    heard.Reset();
    if (co_await heard.WaitFor(options.ping_pause)) {
      silent = std::chrono::milliseconds(0);
      continue;
    }
    silent += options.ping_pause;
    if (silent >= options.silence_max) break;
    ::nghttp2_submit_ping(session.get(), NGHTTP2_FLAG_NONE, nullptr);
    to_send.Set();
  }
  ending = Ending::kSilent;
  transport->Close();
}

asio::awaitable<Ending> Session::State::Receive() {
  std::string buffer(kReadBytes, '\0');
  for (;;) {
    const Result<std::size_t> count = co_await transport->ReadSome(std::as_writable_bytes(std::span(buffer)));
    if (!count || *count == 0) co_return ending;
    heard.Set();
    const ssize_t used = ::nghttp2_session_mem_recv(
        session.get(), reinterpret_cast<const std::uint8_t*>(buffer.data()), *count);
    if (used < 0) co_return Ending::kBroken;
    if (::nghttp2_session_want_write(session.get()) != 0) to_send.Set();
    if (::nghttp2_session_want_read(session.get()) == 0 && ::nghttp2_session_want_write(session.get()) == 0)
      co_return Ending::kClosed;
  }
}

void Session::State::EndStreams() {
  over = true;
  for (const auto& [id, stream] : std::exchange(streams, {})) stream->End();
}

Session::Session(asio::any_io_executor executor, std::unique_ptr<http::Transport> transport, Side side,
                 Options options)
    : state_(std::make_shared<State>(std::move(executor), std::move(transport), side, std::move(options))) {
  state_->Start();
}

Session::~Session() {
  Close();
  state_->EndStreams();
}

asio::awaitable<Ending> Session::Run() {
  const std::shared_ptr<State> state = state_;
  state->tasks.Spawn(state->Send());
  state->tasks.Spawn(state->Watch());
  Ending ending = Ending::kClosed;
  try {
    ending = co_await state->Receive();
  } catch (const boost::system::system_error&) {  // cancelled
  }
  co_await asio::this_coro::throw_if_cancelled(false);
  state->EndStreams();
  state->transport->Close();
  state->tasks.Cancel();
  co_await state->tasks.Join();
  co_return ending;
}

std::shared_ptr<Stream> Session::Open(std::string_view path) {
  TY_CHECK(state_->side == Side::kOpens && path.size() <= kPathBytesMax);
  if (state_->over || state_->streams.size() >= static_cast<std::size_t>(kStreamsMax)) return nullptr;
  const std::array fields{Field(":method", "POST"), Field(":scheme", "https"),
                          Field(":authority", "trainyard"), Field(":path", path)};
  const nghttp2_data_provider provider = state_->Provider();
  auto stream = std::make_shared<Flow>(state_->executor);
  stream->id = ::nghttp2_submit_request(state_->session.get(), nullptr, fields.data(), fields.size(),
                                        &provider, nullptr);
  if (stream->id < 0) return nullptr;
  stream->path = path;
  state_->Add(stream);
  state_->to_send.Set();
  return std::make_shared<OpenStream>(state_, std::move(stream));
}

void Session::Close() {
  state_->over = true;
  state_->transport->Close();
}

}  // namespace trainyard::mux
