#include "api/batch_parts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "net/http/text.h"

namespace trainyard::api {
namespace {

constexpr std::size_t kBoundaryBytesMax = 200;  // RFC 2046 allows 70
constexpr std::size_t kFieldsMax = 100;

std::unexpected<Error> Refused(std::string message) {
  return std::unexpected(InvalidArgument({}, std::move(message)));
}

/// The boundary without its quotes; empty if there is none.
std::string_view BoundaryOf(std::string_view content_type) {
  constexpr std::string_view kName = "boundary=";
  for (std::size_t semicolon; (semicolon = content_type.find(';')) != std::string_view::npos;) {
    content_type = http::Trim(content_type.substr(semicolon + 1));
    if (!http::EqualsIgnoringCase(content_type.substr(0, kName.size()), kName)) continue;
    std::string_view value = content_type.substr(kName.size());
    if (!value.starts_with('"')) return http::Trim(value.substr(0, value.find(';')));
    const std::size_t end = value.find('"', 1);
    return end == std::string_view::npos ? std::string_view() : value.substr(1, end - 1);
  }
  return {};
}

/// Takes the next line without its line end; `text` continues after it.
std::string_view TakeLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// The contents of the parts. The line end before a boundary belongs to it.
Result<std::vector<std::string_view>> SplitParts(std::string_view body, std::string_view boundary) {
  const std::string delimiter = "--" + std::string(boundary);
  std::vector<std::string_view> parts;
  std::optional<std::size_t> start;
  std::string_view rest = body;
  while (!rest.empty()) {
    const std::size_t at = body.size() - rest.size();
    const std::string_view line = TakeLine(rest);
    if (!line.starts_with(delimiter)) continue;
    const std::string_view after = http::Trim(line.substr(delimiter.size()));
    const bool closes = after == "--";
    if (!closes && !after.empty()) continue;
    if (start) {
      std::string_view part = body.substr(*start, std::max(at, *start) - *start);
      if (part.ends_with('\n')) part.remove_suffix(1);
      if (part.ends_with('\r')) part.remove_suffix(1);
      parts.push_back(part);
      if (parts.size() > kBatchCallsMax) {
        return Refused("The batch has more than " + std::to_string(kBatchCallsMax) + " calls");
      }
    }
    if (closes) return parts;
    start = body.size() - rest.size();
  }
  return Refused("Failed to parse batch request: the body ends before its closing boundary");
}

/// Header fields up to the empty line.
Result<http::Headers> TakeFields(std::string_view& text) {
  std::vector<std::pair<std::string, std::string>> fields;
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    if (line.empty()) break;
    if (!fields.empty() && (line.front() == ' ' || line.front() == '\t')) {  // a folded field
      fields.back().second.append(" ").append(http::Trim(line));
      continue;
    }
    const std::size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    const bool valid = colon != std::string_view::npos && http::IsToken(name) &&
                       http::IsFieldValue(line.substr(colon + 1)) && fields.size() < kFieldsMax;
    if (!valid) return Refused("Failed to parse batch request: malformed header fields in a part");
    fields.emplace_back(name, http::Trim(line.substr(colon + 1)));
  }
  http::Headers headers;
  for (auto& [name, value] : fields) headers.Add(std::move(name), std::move(value));
  return headers;
}

/// "GET /path HTTP/1.1"
Result<http::RequestHead> ParseRequestLine(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  http::RequestHead head;
  if (first != std::string_view::npos && last > first) {
    head.method = line.substr(0, first);
    head.target = line.substr(first + 1, last - first - 1);
  }
  const bool valid = http::IsToken(head.method) && !head.target.empty() && http::IsFieldValue(head.target) &&
                     head.target.find(' ') == std::string::npos &&
                     line.substr(last + 1).starts_with("HTTP/1.");
  if (!valid) return Refused("Failed to parse batch request: a part is not an HTTP request");
  return head;
}

Result<BatchCall> ParsePart(std::string_view part) {
  TY_TRY(const http::Headers envelope, TakeFields(part));
  const std::string_view type = envelope.Get("Content-Type");
  if (!http::EqualsIgnoringCase(http::Trim(type.substr(0, type.find(';'))), "application/http")) {
    return Refused("Failed to parse batch request: a part's Content-Type must be application/http");
  }
  BatchCall call{.content_id = std::string(envelope.Get("Content-ID"))};
  TY_TRY(call.head, ParseRequestLine(TakeLine(part)));
  TY_TRY(call.head.headers, TakeFields(part));
  call.body = part;
  return call;
}

}  // namespace

Result<std::vector<BatchCall>> ParseBatch(std::string_view content_type, std::string_view body) {
  const std::string_view type = http::Trim(content_type.substr(0, content_type.find(';')));
  const std::string_view boundary = BoundaryOf(content_type);
  if (!http::EqualsIgnoringCase(type, "multipart/mixed") || boundary.empty() ||
      boundary.size() > kBoundaryBytesMax) {
    return Refused("A batch needs a Content-Type of multipart/mixed with a boundary");
  }
  TY_TRY(const auto parts, SplitParts(body, boundary));
  if (parts.empty()) return Refused("The batch has no calls");
  std::vector<BatchCall> calls;
  for (const std::string_view part : parts) {
    TY_TRY(BatchCall call, ParsePart(part));
    calls.push_back(std::move(call));
  }
  return calls;
}

std::string ResponseContentId(std::string_view content_id) {
  if (content_id.empty()) return {};
  const bool bracketed = content_id.starts_with('<');
  if (bracketed) content_id.remove_prefix(1);
  std::string id = bracketed ? "<response-" : "response-";
  return id.append(content_id);
}

}  // namespace trainyard::api
