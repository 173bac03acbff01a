#include "engine/replica_link.h"

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <cstddef>
#include <utility>

#include "base/async/event.h"
#include "base/async/task_group.h"
#include "programs/attempt/frame.h"

namespace trainyard::engine {

namespace {

namespace asio = boost::asio;

constexpr std::string_view kProtocol = "trainyard-replica";
/// A supervisor sends Hello as soon as it has connected.
constexpr std::chrono::seconds kHelloWaitMax{10};
/// A supervisor that lets more than this pile up is disconnected: it reconnects.
constexpr std::size_t kQueuedBytesMax = std::size_t{16} << 20;

/// The connection: Send() queues, one task writes. Loop thread only.
class StreamLink final : public ReplicaLink {
 public:
  StreamLink(std::shared_ptr<http::ByteStream> stream, asio::any_io_executor loop)
      : stream_(std::move(stream)), wake_(std::move(loop)) {}

  void Send(ToReplica frame) override {
    if (closed_) return;
    replica::AppendFrame(frame, queue_);
    if (queue_.size() > kQueuedBytesMax) return Close();
    wake_.Set();
  }

  void Close() override {
    if (std::exchange(closed_, true)) return;
    stream_->Close();
    wake_.Set();
  }

  asio::awaitable<void> WriteQueued() {
    while (!closed_) {
      if (queue_.empty()) {
        wake_.Reset();
        co_await wake_.Wait();
        continue;
      }
      std::string bytes = std::exchange(queue_, {});
      const Status written = co_await stream_->Write(std::move(bytes));
      if (!written) Close();
    }
  }

  http::ByteStream& stream() noexcept { return *stream_; }
  [[nodiscard]] bool is_closed() const noexcept { return closed_; }

 private:
  std::shared_ptr<http::ByteStream> stream_;
  Event wake_;
  std::string queue_;
  bool closed_ = false;
};

/// Reads frames from a stream. Loop thread only.
class FrameSource {
 public:
  explicit FrameSource(http::ByteStream& stream) : stream_(stream) {}

  /// Returns the next frame; an error at the end of the stream and for data that is no frame.
  asio::awaitable<Result<FromReplica>> Next() {
    for (;;) {
      std::string_view content;
      TY_CO_TRY(const bool complete, frames_.Next(content));
      if (complete) {
        FromReplica frame;
        if (frame.ParseFromArray(content.data(), static_cast<int>(content.size()))) co_return frame;
        co_return std::unexpected(InvalidArgument("", "not a frame"));
      }
      TY_CO_TRY(const std::size_t size, co_await stream_.ReadSome(buffer_));
      if (size == 0) co_return std::unexpected(Unavailable("the supervisor has ended"));
      frames_.Feed({reinterpret_cast<const char*>(buffer_.data()), size});
    }
  }

 private:
  http::ByteStream& stream_;
  replica::FrameReader frames_;
  std::array<std::byte, 64 << 10> buffer_{};
};

asio::awaitable<void> ReadFrames(ReplicaLinkObserver& observer, std::shared_ptr<StreamLink> link,
                                 std::string& attempt_id) {
  const auto source = std::make_unique<FrameSource>(link->stream());
  asio::steady_timer hello_deadline(co_await asio::this_coro::executor, kHelloWaitMax);
  hello_deadline.async_wait([weak = std::weak_ptr(link)](const boost::system::error_code& error) {
    if (const auto late = weak.lock(); late && !error) late->Close();
  });
  const Result<FromReplica> first = co_await source->Next();
  hello_deadline.cancel();
  if (!first || !first->has_hello()) co_return;
  const Status accepted = observer.OnHello(link, first->hello());
  if (!accepted) co_return;
  attempt_id = first->hello().attempt_id();
  for (;;) {
    Result<FromReplica> frame = co_await source->Next();
    // A frame that was read before the observer closed the connection is sent again over the next one.
    if (!frame || link->is_closed()) co_return;
    co_await observer.OnFrame(link, attempt_id, *std::move(frame));
  }
}

/// Serves the connection, from the upgrade to its end.
asio::awaitable<void> ServeLink(ReplicaLinkObserver& observer, std::shared_ptr<http::ByteStream> stream) {
  const asio::any_io_executor loop = co_await asio::this_coro::executor;
  const auto link = std::make_shared<StreamLink>(std::move(stream), loop);
  TaskGroup writer(loop);
  writer.Spawn(link->WriteQueued());
  std::string attempt_id;  // empty until Hello was accepted
  try {
    co_await ReadFrames(observer, link, attempt_id);
  } catch (const boost::system::system_error&) {  // cancelled: the server ends
  }
  co_await asio::this_coro::throw_if_cancelled(false);
  link->Close();
  co_await writer.Join();
  if (!attempt_id.empty()) observer.OnClosed(link.get(), attempt_id);
}

asio::awaitable<Result<http::Response>> Attach(ReplicaLinkObserver& observer, std::string upgrade) {
  if (upgrade != kProtocol)
    co_return std::unexpected(InvalidArgument("", "the connection is not to be upgraded"));
  http::Response response;
  response.body = http::UpgradeBody{.protocol = std::string(kProtocol),
                                    .run = [&observer](std::shared_ptr<http::ByteStream> stream) {
                                      return ServeLink(observer, std::move(stream));
                                    }};
  co_return response;
}

}  // namespace

http::Handler AttachHandler(ReplicaLinkObserver& observer) {
  return [&observer](http::Request& request) {
    return Attach(observer, std::string(request.headers.Get("Upgrade")));
  };
}

}  // namespace trainyard::engine
