#include "net/http/response_writer.h"

#include <algorithm>
#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/async/event.h"
#include "base/async/task_group.h"
#include "base/overloaded.h"
#include "base/text/hex.h"
#include "net/http/channel.h"
#include "net/http/gzip.h"
#include "net/http/message.h"
#include "net/http/text.h"

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
  Event changed;  ///< a part is ready, or the client is gone
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
    if (!stream.part) co_return std::unexpected(Unavailable("the client has disconnected"));
    Result<StreamPart> part = *std::exchange(stream.part, std::nullopt);
    if (!part) co_return false;  // the client notices that the last chunk is missing
    if (part->size() == 0) break;
    TY_CO_RETURN_IF_ERROR(co_await WritePart(stream.channel, *std::move(part), chunked, write_wait_max));
  }
  if (chunked) TY_CO_RETURN_IF_ERROR(co_await stream.channel.Write("0\r\n\r\n", {}, write_wait_max));
  // Under TLS a read that is cancelled leaves the stream in an unknown state.
  co_return chunked&& stream.channel.scheme() == "http";
}

/// Writes the parts of a stream, as they are made, until an empty one ends it; the head has been written.
/// While a part is being made the connection is watched: when the client goes away, or the connection is
/// closed, the call of `next` is cancelled (it unwinds with asio's operation_aborted) and kUnavailable
/// returned. What a client sends meanwhile stays buffered.
/// @return false: the connection needs to be closed afterwards, to show the stream's end or failure.
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

constexpr std::size_t kGzipBytesMax = std::size_t{64} << 20;
constexpr std::string_view kNoSniff = "X-Content-Type-Options";

bool IsFramingField(std::string_view name) noexcept {
  static constexpr std::array<std::string_view, 5> kNames = {"Content-Length", "Transfer-Encoding",
                                                             "Connection", "Date", "Keep-Alive"};
  return std::ranges::any_of(kNames, [name](std::string_view own) { return EqualsIgnoringCase(name, own); });
}

void AppendValue(std::string& text, std::string_view value) {
  if (IsFieldValue(value)) {
    text.append(value);
    return;
  }
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(byte < 0x20 || byte == 0x7f ? ' ' : c);
  }
}

std::string ContentLength(std::uint64_t length) {
  return "Content-Length: " + std::to_string(length) + "\r\n";
}

bool HasNoBody(int status) noexcept { return status == 204 || status == 304; }

void Compress(std::string& body, Response& response, const ResponseContext& context) {
  const bool is_json = response.headers.Get("Content-Type").starts_with("application/json");
  if (!is_json || body.size() < kGzipBytesMin || body.size() > kGzipBytesMax) return;
  if (response.headers.Has("Content-Encoding")) return;
  response.headers.Add("Vary", "Accept-Encoding");
  if (!context.accepts_gzip || context.to_head) return;
  body = GzipCompress(body);
  response.headers.Add("Content-Encoding", "gzip");
}

asio::awaitable<Result<bool>> WriteText(Channel& channel, Response& response, ResponseContext context) {
  auto& body = std::get<std::string>(response.body);
  Compress(body, response, context);
  const bool no_body = HasNoBody(response.status);
  std::string head =
      PrintResponseHead(response, context, no_body ? std::string() : ContentLength(body.size()));
  std::string_view rest = no_body || context.to_head ? std::string_view() : body;
  if (rest.size() <= kOneWriteBytesMax) head.append(std::exchange(rest, {}));
  TY_CO_RETURN_IF_ERROR(co_await channel.Write(head, rest, context.write_wait_max));
  co_return true;
}

asio::awaitable<Result<bool>> WriteFile(Channel& channel, Response& response, ResponseContext context) {
  const FileBody file = std::get<FileBody>(response.body);
  const std::string head = PrintResponseHead(response, context, ContentLength(file.length));
  TY_CO_RETURN_IF_ERROR(co_await channel.Write(head, {}, context.write_wait_max));
  if (context.to_head || HasNoBody(response.status)) co_return true;
  TY_CO_RETURN_IF_ERROR(
      co_await channel.SendFile(*file.descriptor, file.offset, file.length, context.write_wait_max));
  co_return true;
}

asio::awaitable<Result<bool>> WriteStream(Channel& channel, Response& response, ResponseContext context) {
  StreamBody stream = std::get<StreamBody>(response.body);
  const bool chunked = context.minor_version >= 1;
  context.keep_alive = context.keep_alive && chunked;
  const std::string head =
      PrintResponseHead(response, context, chunked ? "Transfer-Encoding: chunked\r\n" : "");
  TY_CO_RETURN_IF_ERROR(co_await channel.Write(head, {}, context.write_wait_max));
  if (context.to_head) co_return chunked;
  co_return co_await WriteParts(channel, std::move(stream), context);
}

asio::awaitable<Result<bool>> WriteUpgrade(Channel& channel, Response& response, ResponseContext context) {
  response.status = 101;
  const std::string fields =
      "Connection: Upgrade\r\nUpgrade: " + std::get<UpgradeBody>(response.body).protocol + "\r\n";
  context.keep_alive = true;
  context.minor_version = 1;
  const std::string head = PrintResponseHead(response, context, fields);
  TY_CO_RETURN_IF_ERROR(co_await channel.Write(head, {}, context.write_wait_max));
  co_return false;
}

}  // namespace

std::string_view ReasonPhrase(int status) noexcept {
  switch (status) {
    case 101: return "Switching Protocols";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Resume Incomplete";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 411: return "Length Required";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 416: return "Range Not Satisfiable";
    case 417: return "Expectation Failed";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 499: return "Client Closed Request";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "";
  }
}

std::string PrintResponseHead(const Response& response, const ResponseContext& context,
                              std::string_view framing_fields) {
  std::string head;
  head.reserve(512);
  head.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
  head.append(ReasonPhrase(response.status)).append("\r\nDate: ").append(context.date).append("\r\n");
  for (const auto& [name, value] : response.headers.fields()) {
    if (IsFramingField(name) || !IsToken(name)) continue;
    head.append(name).append(": ");
    AppendValue(head, value);
    head.append("\r\n");
  }
  // A browser must never treat text as an HTML page.
  if (!response.headers.Has(kNoSniff)) head.append(kNoSniff).append(": nosniff\r\n");
  head.append(framing_fields);
  if (!context.keep_alive) head.append("Connection: close\r\n");
  if (context.keep_alive && context.minor_version == 0) head.append("Connection: keep-alive\r\n");
  head.append("\r\n");
  return head;
}

asio::awaitable<Result<bool>> WriteResponse(Channel& channel, Response& response, ResponseContext context) {
  return std::visit(Overloaded{
                        [&](const std::string&) { return WriteText(channel, response, context); },
                        [&](const FileBody&) { return WriteFile(channel, response, context); },
                        [&](const StreamBody&) { return WriteStream(channel, response, context); },
                        [&](const UpgradeBody&) { return WriteUpgrade(channel, response, context); },
                    },
                    response.body);
}

}  // namespace trainyard::http
