#include "net/http/stream_writer.h"

#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "base/async/event.h"
#include "base/async/task_group.h"
#include "base/text/hex.h"

namespace trainyard::http {

namespace {

constexpr std::size_t kReadAheadMax = std::size_t{64} << 10;
constexpr std::size_t kOneWriteBytesMax = 16384;  // up to here copying is cheapest
constexpr std::chrono::hours kWatchWaitMax{24};

/// One stream being written. Its tasks are joined before it is destroyed.
struct Stream {
  Stream(const asio::any_io_executor& executor, Channel& used, StreamBody written)
      : channel(used), body(std::move(written)), changed(executor), tasks(executor) {}

  Channel& channel;
  StreamBody body;
  std::optional<Result<StreamPart>> part;
  bool gone = false;
  Event changed;  ///< a part was made, or the client is gone
  TaskGroup tasks;
};

asio::awaitable<void> MakePart(Stream& stream) {
  stream.part = co_await stream.body.next();
  stream.changed.Set();
}

asio::awaitable<void> WatchClient(Stream& stream) {
  while (stream.channel.Buffered().size() < kReadAheadMax) {
    const Result<std::size_t> got = co_await stream.channel.Fill(kWatchWaitMax);
    if (got && *got > 0) continue;
    if (!got && got.error().code == Code::kDeadlineExceeded) continue;
    stream.gone = true;
    stream.changed.Set();
    co_return;
  }
}

std::string ChunkHead(std::size_t size) {
  int digits = 0;
  for (std::size_t left = size; left > 0; left /= 16) ++digits;
  return text::HexNumber(size, digits) + "\r\n";
}

asio::awaitable<Status> WritePart(Channel& channel, StreamPart part, bool chunked, Duration write_wait_max) {
  std::string head = chunked ? ChunkHead(part.size()) : std::string();
  head += part.text;
  if (chunked) part.after.append("\r\n");
  if (part.shared == nullptr || part.shared->size() <= kOneWriteBytesMax) {
    if (part.shared != nullptr) head += *part.shared;
    co_return co_await channel.Write(head, part.after, write_wait_max);
  }
  TY_CO_RETURN_IF_ERROR(co_await channel.Write(head, *part.shared, write_wait_max));
  co_return co_await channel.Write(part.after, {}, write_wait_max);
}

asio::awaitable<Result<bool>> WriteAllParts(Stream& stream, bool chunked, Duration write_wait_max) {
  while (true) {
    stream.part.reset();
    stream.changed.Reset();
    stream.tasks.Spawn(MakePart(stream));
    // A part that is ready is written even if the client has closed its sending side.
    while (!stream.part && !stream.gone) {
      co_await stream.changed.Wait();
      if (!stream.part && !stream.gone) stream.changed.Reset();
    }
    if (!stream.part) co_return std::unexpected(Unavailable("the client went away"));
    Result<StreamPart> part = *std::exchange(stream.part, std::nullopt);
    if (!part) co_return false;  // the client notices that the last chunk is missing
    if (part->size() == 0) break;
    TY_CO_RETURN_IF_ERROR(co_await WritePart(stream.channel, *std::move(part), chunked, write_wait_max));
  }
  if (chunked) TY_CO_RETURN_IF_ERROR(co_await stream.channel.Write("0\r\n\r\n", {}, write_wait_max));
  // Under TLS a read that is cancelled leaves the stream in an unknown state.
  co_return chunked&& stream.channel.scheme() == "http";
}

}  // namespace

asio::awaitable<Result<bool>> WriteParts(Channel& channel, StreamBody body, ResponseContext context) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  Stream stream(executor, channel, std::move(body));
  stream.tasks.Spawn(WatchClient(stream));
  Result<bool> written = false;
  std::exception_ptr cancelled;
  try {
    written = co_await WriteAllParts(stream, context.minor_version >= 1, context.write_wait_max);
  } catch (const boost::system::system_error&) {  // the server ends
    cancelled = std::current_exception();
  }
  co_await asio::this_coro::throw_if_cancelled(false);
  stream.tasks.Cancel();
  co_await stream.tasks.Join();
  co_await asio::this_coro::throw_if_cancelled(true);
  if (cancelled) std::rethrow_exception(cancelled);
  co_return written;
}

}  // namespace trainyard::http
