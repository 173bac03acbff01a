#include "net/grpc/grpc_session.h"

#include <nghttp2/nghttp2.h>

#include <array>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/async/diagnostics.h"
#include "base/async/event.h"
#include "base/async/task_group.h"
#include "base/async/watched_executor.h"
#include "base/check.h"
#include "net/grpc/call_stream.h"
#include "net/grpc/http2_library.h"

namespace trainyard::grpc {

namespace {

namespace asio = boost::asio;
using SteadyClock = std::chrono::steady_clock;

constexpr std::string_view kTaskName = "grpc";
constexpr std::size_t kReadBytes = std::size_t{16} << 10;
constexpr std::size_t kQueuedFramesMax =
    1'000;  // to be sent; then nothing is read until the client takes some
constexpr auto kNoWaitMax = std::chrono::hours(24 * 365);  // Watch() ends a silent connection

Reply Failed(const Error& error) { return {.status = static_cast<int>(error.code), .text = error.message}; }

Error TooMuchHeld() { return ResourceExhausted("the connection has too many large calls at once"); }

std::string WhatOf(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& known) {
    return known.what();
  }
}

/// The state of one connection. Shared: the handlers' completions keep it.
class Session final : public Http2Events, public std::enable_shared_from_this<Session> {
 public:
  Session(const asio::any_io_executor& executor, std::shared_ptr<http::Channel> channel,
          const GrpcOptions& options)
      : executor_(executor),
        channel_(std::move(channel)),
        options_(options),
        http2_(MakeHttp2(*this,
                         {.streams_max = options.streams_max, .header_bytes_max = options.header_bytes_max})),
        to_send_(executor),
        sent_(executor),
        heard_(executor),
        ended_(executor),
        no_handlers_(executor),
        tasks_(executor) {
    no_handlers_.Set();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() override { Hold(0 - held_bytes_); }

  asio::awaitable<void> Run();

  void OnBegin(std::int32_t id) override;
  void OnField(std::int32_t id, std::string_view name, std::string_view value) override;
  void OnHead(std::int32_t id) override;
  void OnData(std::int32_t id, std::string_view bytes) override;
  void OnEnd(std::int32_t id) override;
  void OnSettings() override { started_ = true; }
  void OnClosed(std::int32_t id, std::uint32_t error) override;
  void OnAnswerSent(std::int32_t id) override;
  CallStream* Find(std::int32_t id) override {
    const auto found = streams_.find(id);
    return found == streams_.end() ? nullptr : found->second.get();
  }

 private:
  using StreamPointer = std::shared_ptr<CallStream>;

  asio::awaitable<void> Receive();
  asio::awaitable<void> Send();
  asio::awaitable<void> Watch();
  void StartHandlers();
  void StartHandler(const StreamPointer& stream);
  void HandlerEnded(const StreamPointer& stream, const std::exception_ptr& exception, Reply reply);
  void Expect(CallStream& stream, SteadyClock::time_point end);
  void OnLate(CallStream& stream);
  void Answer(CallStream& stream, const Reply& reply);
  void Refuse(CallStream& stream, const CallRefusal& refusal);
  void Reset(std::int32_t id, std::uint32_t error);
  void GoAway();
  void NoteBusy();
  /// So many bytes of requests more are in memory; modulo 2^64, so that they may be less.
  void Hold(std::size_t bytes) {
    held_bytes_ += bytes;
    *held_together_ += bytes;
  }
  /// Whether so many bytes more would be too much, of this connection or of all together.
  [[nodiscard]] bool HoldsTooMuch(std::size_t bytes) const {
    return held_bytes_ + bytes > options_.held_bytes_max ||
           *held_together_ + bytes > options_.held_together_max;
  }

  asio::any_io_executor executor_;
  std::shared_ptr<http::Channel> channel_;
  const GrpcOptions& options_;
  Http2Pointer http2_;
  std::map<std::int32_t, StreamPointer> streams_;  ///< open
  std::set<StreamPointer> handled_;                ///< their handlers run; some are not open any more
  std::vector<StreamPointer> ready_;               ///< complete calls; started outside of the library
  std::shared_ptr<std::size_t> held_together_ = options_.held_together;
  std::size_t held_bytes_ = 0;
  std::size_t answered_ = 0;
  std::size_t failed_ = 0;
  bool started_ = false;
  bool leaving_ = false;
  bool is_busy_ = false;
  Event to_send_;
  Event sent_;
  Event heard_;
  Event ended_;
  Event no_handlers_;
  TaskGroup tasks_;
};

asio::awaitable<void> Session::Run() {
  channel_->signals().on_stop = [this] { GoAway(); };
  tasks_.Spawn(Send());
  tasks_.Spawn(Watch());
  tasks_.Spawn(Receive());
  bool cancelled = false;
  try {
    co_await ended_.Wait();
    channel_->signals().on_stop = nullptr;
    tasks_.Cancel();
    co_await no_handlers_.Wait();  // what they do is not half done
  } catch (const boost::system::system_error&) {
    cancelled = true;
  }
  // From here on, a second cancellation must not end this before the tasks and handlers have ended.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  channel_->signals().on_stop = nullptr;
  tasks_.Cancel();
  if (cancelled)
    for (const StreamPointer& stream : std::vector(handled_.begin(), handled_.end())) stream->CancelHandler();
  co_await tasks_.Join();
  co_await no_handlers_.Wait();
  if (cancelled) throw boost::system::system_error(asio::error::operation_aborted);
  co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
}

asio::awaitable<void> Session::Receive() {
  NameLoopTask(kTaskName);
  std::string buffer(kReadBytes, '\0');
  const auto start_end = SteadyClock::now() + options_.start_wait_max;
  while (::nghttp2_session_want_read(http2_.get()) != 0) {
    const http::Duration wait = started_ ? http::Duration(kNoWaitMax) : start_end - SteadyClock::now();
    const Result<std::size_t> count =
        co_await channel_->Read(std::as_writable_bytes(std::span(buffer)), wait);
    if (!count || *count == 0) co_return ended_.Set();
    heard_.Set();
    const auto used = ::nghttp2_session_mem_recv(
        http2_.get(), reinterpret_cast<const std::uint8_t*>(buffer.data()), *count);
    if (used < 0) co_return ended_.Set();
    to_send_.Set();
    StartHandlers();
    NoteBusy();
    while (::nghttp2_session_get_outbound_queue_size(http2_.get()) > kQueuedFramesMax) {
      sent_.Reset();
      co_await sent_.Wait();
    }
  }
}

asio::awaitable<void> Session::Send() {
  while (true) {
    to_send_.Reset();
    const std::uint8_t* data = nullptr;
    const auto size = ::nghttp2_session_mem_send(http2_.get(), &data);
    if (size < 0) break;
    if (size > 0) {
      const std::string bytes(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
      if (!co_await channel_->Write(bytes, {}, options_.write_wait_max)) break;
      sent_.Set();
      continue;
    }
    NoteBusy();
    if (::nghttp2_session_want_read(http2_.get()) == 0) break;  // all is said: GOAWAY was sent or received
    co_await to_send_.Wait();
  }
  ended_.Set();
}

asio::awaitable<void> Session::Watch() {
  std::chrono::milliseconds silent{0};
  while (true) {
    heard_.Reset();
    if (co_await heard_.WaitFor(options_.ping_pause)) {
      silent = std::chrono::milliseconds(0);
      continue;
    }
    silent += options_.ping_pause;
    if (streams_.empty()) {
      if (silent >= options_.idle_wait_max) GoAway();
    } else if (silent >= options_.silence_max) {
      co_return ended_.Set();
    } else {
      ::nghttp2_submit_ping(http2_.get(), NGHTTP2_FLAG_NONE, nullptr);
      to_send_.Set();
    }
  }
}

void Session::OnBegin(std::int32_t id) {
  // A client repeats a call that was refused in this way: it has not begun.
  if (leaving_ || handled_.size() >= options_.streams_max) return Reset(id, NGHTTP2_REFUSED_STREAM);
  auto stream =
      std::make_shared<CallStream>(executor_, id, options_.header_bytes_max, options_.message_bytes_max);
  Expect(*stream, SteadyClock::now() + options_.message_wait_max);
  streams_[id] = std::move(stream);
}

void Session::OnField(std::int32_t id, std::string_view name, std::string_view value) {
  if (CallStream* stream = Find(id); stream != nullptr) stream->head.Add(name, value);
}

void Session::OnHead(std::int32_t id) {
  CallStream* stream = Find(id);
  if (stream == nullptr) return;
  if (const auto refusal = stream->head.Check()) return Refuse(*stream, *refusal);
  const auto timeout = stream->head.Timeout();
  if (!timeout) return;
  stream->call.deadline = SteadyClock::now() + *timeout;
  if (*timeout < options_.message_wait_max) Expect(*stream, *stream->call.deadline);
}

void Session::OnData(std::int32_t id, std::string_view bytes) {
  CallStream* stream = Find(id);
  if (stream == nullptr || stream->is_answered) return;
  const std::size_t before = stream->reader.held_bytes();
  Status added = stream->reader.Add(bytes);
  Hold(stream->reader.held_bytes() - before);  // modulo 2^64: it may be less
  if (added && HoldsTooMuch(0)) added = std::unexpected(TooMuchHeld());
  if (!added) Refuse(*stream, {.error = added.error()});
}

void Session::OnEnd(std::int32_t id) {
  CallStream* stream = Find(id);
  if (stream == nullptr) return;
  stream->in_ended = true;
  if (!stream->is_answered) ready_.push_back(streams_[id]);
}

void Session::StartHandlers() {
  for (const StreamPointer& stream : std::exchange(ready_, {}))
    if (Find(stream->id) == stream.get() && !stream->is_answered) StartHandler(stream);
}

void Session::StartHandler(const StreamPointer& stream) {
  if (stream->call.deadline && *stream->call.deadline <= SteadyClock::now()) return OnLate(*stream);
  const std::size_t held = stream->reader.held_bytes();
  Result<std::string> message = stream->reader.Take(stream->head.encoding());
  Hold(0 - held);
  if (message && HoldsTooMuch(message->size())) message = std::unexpected(TooMuchHeld());
  if (!message) return Refuse(*stream, {.error = message.error()});
  stream->held_bytes = message->size();
  Hold(stream->held_bytes);
  UnaryCall& call = stream->call;
  call.path = stream->head.path();
  call.metadata = stream->head.fields();
  call.authority = stream->head.authority();
  call.message = *std::move(message);
  call.peer = &channel_->peer();
  Expect(*stream, call.deadline.value_or(SteadyClock::time_point::max()));
  handled_.insert(stream);
  no_handlers_.Reset();
  stream->is_handled = true;
  auto on_end = [self = shared_from_this(), stream](const std::exception_ptr& exception, Reply reply) {
    self->HandlerEnded(stream, exception, std::move(reply));
  };
  asio::co_spawn(executor_, options_.handler(call),
                 asio::bind_cancellation_slot(stream->cancel.slot(), std::move(on_end)));
}

void Session::HandlerEnded(const StreamPointer& stream, const std::exception_ptr& exception, Reply reply) {
  stream->is_handled = false;
  Hold(0 - std::exchange(stream->held_bytes, 0));
  stream->call.message = {};
  if (exception) {
    reply = Failed(Internal("Internal error encountered."));
    if (!stream->was_cancelled)
      Diagnose(DiagnosticLevel::kError, "grpc: " + stream->call.path + ": " + WhatOf(exception));
  }
  Answer(*stream, reply);
  handled_.erase(stream);
  NoteBusy();
  if (handled_.empty()) no_handlers_.Set();
}

void Session::Expect(CallStream& stream, SteadyClock::time_point end) {
  stream.timer.expires_at(end);
  stream.timer.async_wait([self = weak_from_this(), id = stream.id](const boost::system::error_code& error) {
    const std::shared_ptr<Session> session = self.lock();
    CallStream* late = error || !session ? nullptr : session->Find(id);
    if (late != nullptr && late->timer.expiry() <= SteadyClock::now()) session->OnLate(*late);
  });
}

void Session::OnLate(CallStream& stream) {
  if (stream.is_answered) return Reset(stream.id, NGHTTP2_CANCEL);
  const bool by_client = stream.call.deadline && *stream.call.deadline <= SteadyClock::now();
  Answer(stream, Failed({Code::kDeadlineExceeded,
                         by_client ? "the deadline of the call has passed"
                                   : "the message of the call took too long to arrive",
                         ""}));
}

void Session::Answer(CallStream& stream, const Reply& reply) {
  if (stream.is_answered || Find(stream.id) != &stream) return;
  stream.SetAnswer(AnswerOf(reply));
  Expect(stream, SteadyClock::now() + options_.answer_wait_max);
  SubmitAnswer(*http2_, stream);
  to_send_.Set();
}

void Session::Refuse(CallStream& stream, const CallRefusal& refusal) {
  if (refusal.http_status == 200) return Answer(stream, Failed(refusal.error));
  if (stream.is_answered) return;
  stream.SetAnswer(AnswerOf(refusal, stream.head.method() != "HEAD"));
  Expect(stream, SteadyClock::now() + options_.answer_wait_max);
  SubmitAnswer(*http2_, stream);
}

void Session::OnAnswerSent(std::int32_t id) {
  // The client need not send the rest of a request that is answered (RFC 9113 section 8.1).
  const CallStream* stream = Find(id);
  if (stream != nullptr && !stream->in_ended) Reset(id, NGHTTP2_NO_ERROR);
}

void Session::OnClosed(std::int32_t id, std::uint32_t error) {
  ++(error == NGHTTP2_NO_ERROR ? answered_ : failed_);
  const auto found = streams_.find(id);
  if (found != streams_.end()) {
    const StreamPointer stream = found->second;
    streams_.erase(found);
    stream->timer.cancel();
    Hold(0 - stream->reader.held_bytes());
  }
  if (failed_ > options_.failed_streams_max + answered_)
    ::nghttp2_session_terminate_session(http2_.get(), NGHTTP2_ENHANCE_YOUR_CALM);
}

void Session::Reset(std::int32_t id, std::uint32_t error) {
  ::nghttp2_submit_rst_stream(http2_.get(), NGHTTP2_FLAG_NONE, id, error);
  to_send_.Set();
}

void Session::GoAway() {
  if (std::exchange(leaving_, true)) return;
  const std::int32_t last = ::nghttp2_session_get_last_proc_stream_id(http2_.get());
  ::nghttp2_submit_goaway(http2_.get(), NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, nullptr, 0);
  to_send_.Set();
}

void Session::NoteBusy() {
  const bool is_busy = !streams_.empty() || !handled_.empty();
  if (std::exchange(is_busy_, is_busy) == is_busy || !channel_->signals().on_busy) return;
  channel_->signals().on_busy(is_busy);
}

}  // namespace

asio::awaitable<void> Serve(std::shared_ptr<http::Channel> channel, const GrpcOptions& options) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const auto session = std::make_shared<Session>(executor, std::move(channel), options);
  co_await session->Run();
}

}  // namespace trainyard::grpc
