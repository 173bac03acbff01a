#include "net/http/head.h"

#include <utility>

#include "net/http/text.h"

namespace trainyard::http {

namespace {

constexpr std::size_t kHeaderFieldsMax = 200;

std::unexpected<HeadError> Refuse(int status, std::string reason) {
  return std::unexpected(HeadError{status, std::move(reason)});
}

/// Removes the first line and returns it without its CRLF.
std::string_view TakeLine(std::string_view& text) noexcept {
  const std::size_t end = text.find("\r\n");
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
  return line;
}

std::expected<int, HeadError> ParseVersion(std::string_view version) {
  if (version == "HTTP/1.1") return 1;
  if (version == "HTTP/1.0") return 0;
  if (version.starts_with("HTTP/")) return Refuse(505, "only HTTP/1.0 and HTTP/1.1 are supported");
  return Refuse(400, "malformed request line");
}

std::expected<Headers, HeadError> ParseFields(std::string_view text) {
  Headers headers;
  while (true) {
    const std::string_view line = TakeLine(text);
    if (line.empty()) return headers;
    if (headers.fields().size() == kHeaderFieldsMax) return Refuse(431, "too many header fields");
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return Refuse(400, "a header field without ':'");
    const std::string_view name = line.substr(0, colon);
    if (!IsToken(name)) return Refuse(400, "malformed header field name");
    const std::string_view value = Trim(line.substr(colon + 1));
    if (!IsFieldValue(value)) return Refuse(400, "malformed header field value");
    headers.Add(std::string(name), std::string(value));
  }
}

bool IsTarget(std::string_view target) noexcept {
  if (target.empty()) return false;
  for (const char c : target) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f) return false;
  }
  return true;
}

/// The value that all Content-Length fields agree on.
std::expected<std::optional<std::uint64_t>, HeadError> ContentLength(const Headers& headers) {
  std::optional<std::uint64_t> length;
  for (const auto& [name, value] : headers.fields()) {
    if (!EqualsIgnoringCase(name, "Content-Length")) continue;
    const std::optional<std::uint64_t> parsed = ParseDecimal(value);
    if (!parsed) return Refuse(400, "malformed Content-Length");
    if (length && *length != *parsed) return Refuse(400, "two different Content-Length fields");
    length = parsed;
  }
  return length;
}

std::expected<bool, HeadError> IsChunked(const Headers& headers, FramingRules rules) {
  bool chunked = false;
  for (const auto& [name, value] : headers.fields()) {
    if (!EqualsIgnoringCase(name, "Transfer-Encoding")) continue;
    if (rules == FramingRules::kChunkedWins && EqualsIgnoringCase(value, "identity")) continue;
    if (chunked) return Refuse(400, "a transfer coding after chunked");
    if (!EqualsIgnoringCase(value, "chunked"))
      return Refuse(501, "the only supported transfer coding is chunked");
    chunked = true;
  }
  return chunked;
}

bool KeepAlive(const Headers& headers, int minor_version) {
  bool close = false;
  bool keep = minor_version >= 1;
  for (const auto& [name, value] : headers.fields()) {
    if (!EqualsIgnoringCase(name, "Connection")) continue;
    ForEachElement(value, [&](std::string_view option) {
      close = close || EqualsIgnoringCase(option, "close");
      keep = keep || EqualsIgnoringCase(option, "keep-alive");
    });
  }
  return keep && !close;
}

std::size_t Count(const Headers& headers, std::string_view name) {
  std::size_t count = 0;
  for (const auto& field : headers.fields()) count += EqualsIgnoringCase(field.first, name) ? 1 : 0;
  return count;
}

}  // namespace

std::expected<std::optional<std::size_t>, HeadError> HeadScanner::Scan(std::string_view bytes) {
  while (true) {
    const std::size_t newline = bytes.find('\n', scanned_);
    if (newline == std::string_view::npos) {
      scanned_ = bytes.size();
      return std::nullopt;
    }
    if (newline == 0 || bytes[newline - 1] != '\r') return Refuse(400, "a line that does not end in CRLF");
    scanned_ = newline + 1;
    if (newline >= 3 && bytes[newline - 2] == '\n') return newline + 1;
  }
}

std::expected<RequestHead, HeadError> ParseRequestHead(std::string_view head) {
  const std::string_view line = TakeLine(head);
  const std::size_t first = line.find(' ');
  const std::size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
  if (second == std::string_view::npos) return Refuse(400, "malformed request line");
  RequestHead request;
  request.method = line.substr(0, first);
  request.target = line.substr(first + 1, second - first - 1);
  if (!IsToken(request.method) || !IsTarget(request.target)) return Refuse(400, "malformed request line");
  const auto version = ParseVersion(line.substr(second + 1));
  if (!version) return std::unexpected(version.error());
  request.minor_version = *version;
  auto headers = ParseFields(head);
  if (!headers) return std::unexpected(std::move(headers).error());
  request.headers = *std::move(headers);
  const std::size_t hosts = Count(request.headers, "Host");
  if (hosts > 1 || (hosts == 0 && request.minor_version >= 1))
    return Refuse(400, "exactly one Host field is needed");
  return request;
}

std::expected<ResponseHead, HeadError> ParseResponseHead(std::string_view head) {
  const std::string_view line = TakeLine(head);
  const std::size_t first = line.find(' ');
  if (first == std::string_view::npos) return Refuse(400, "malformed status line");
  const auto version = ParseVersion(line.substr(0, first));
  if (!version) return std::unexpected(version.error());
  const std::string_view digits = line.substr(first + 1, 3);
  const std::optional<std::uint64_t> status = ParseDecimal(digits);
  if (digits.size() != 3 || !status || *status < 100) return Refuse(400, "malformed status line");
  auto headers = ParseFields(head);
  if (!headers) return std::unexpected(std::move(headers).error());
  return ResponseHead{static_cast<int>(*status), *version, *std::move(headers)};
}

std::expected<Framing, HeadError> RequestFraming(const RequestHead& head, FramingRules rules) {
  Framing framing;
  const auto chunked = IsChunked(head.headers, rules);
  if (!chunked) return std::unexpected(chunked.error());
  const auto length = ContentLength(head.headers);
  if (!length) return std::unexpected(length.error());
  if (*chunked && head.minor_version == 0) return Refuse(400, "Transfer-Encoding in an HTTP/1.0 request");
  if (*chunked && length->has_value() && rules == FramingRules::kStrict) {
    return Refuse(400, "both Transfer-Encoding and Content-Length");
  }
  framing.chunked = *chunked;
  if (!framing.chunked) framing.content_length = length->value_or(0);
  framing.keep_alive = KeepAlive(head.headers, head.minor_version);
  if (const std::string_view expect = head.headers.Get("Expect");
      !expect.empty() && head.minor_version >= 1) {
    if (!EqualsIgnoringCase(expect, "100-continue"))
      return Refuse(417, "the only supported expectation is 100-continue");
    framing.expects_continue = framing.chunked || framing.content_length != 0U;
  }
  return framing;
}

std::expected<Framing, HeadError> ResponseFraming(const ResponseHead& head, bool to_head) {
  Framing framing;
  framing.keep_alive = KeepAlive(head.headers, head.minor_version);
  if (to_head || head.status < 200 || head.status == 204 || head.status == 304) {
    framing.content_length = 0;
    return framing;
  }
  const auto chunked = IsChunked(head.headers, FramingRules::kStrict);
  if (!chunked) return std::unexpected(chunked.error());
  const auto length = ContentLength(head.headers);
  if (!length) return std::unexpected(length.error());
  if (*chunked && length->has_value()) return Refuse(400, "both Transfer-Encoding and Content-Length");
  framing.chunked = *chunked;
  framing.content_length = *length;
  framing.until_close = !framing.chunked && !framing.content_length;
  framing.keep_alive = framing.keep_alive && !framing.until_close;
  return framing;
}

}  // namespace trainyard::http
