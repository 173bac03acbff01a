#include "net/http/response_writer.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "base/overloaded.h"
#include "net/http/gzip.h"
#include "net/http/stream_writer.h"
#include "net/http/text.h"

namespace trainyard::http {

namespace {

constexpr std::size_t kOneWriteBytesMax = 16384;  // up to here appending the body to the head is the cheapest
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
  // A browser must not take a text for a page, whoever wrote it.
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
