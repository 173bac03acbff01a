#include "api/batch_handlers.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "api/storage/storage_handlers_request.h"
#include "base/async/random_bytes.h"
#include "base/wire/error_body.h"
#include "net/access/gate.h"
#include "net/http/incoming.h"
#include "net/http/response_writer.h"
#include "net/http/text.h"
#include "net/http/text_body.h"
#include "rules/iam/refusal.h"

namespace trainyard::api {

namespace {

using storage_api::StatusAnswer;

// Source: Cloud Storage's page "Batch requests": the total payload must be less than 10 MB.
constexpr std::size_t kBatchBytesMax = std::size_t{10} << 20;
constexpr int kBadRequest = 400;
constexpr int kUnauthorized = 401;

/// Whether a header field of the envelope does not apply to the parts.
bool IsOfEnvelope(std::string_view name) {
  for (const std::string_view own :
       {"Host", "Transfer-Encoding", "Expect", "Connection", "Accept-Encoding", "MIME-Version"}) {
    if (http::EqualsIgnoringCase(name, own)) return true;
  }
  constexpr std::string_view kContent = "Content-";
  return http::EqualsIgnoringCase(name.substr(0, kContent.size()), kContent);
}

Response Refused(std::string_view message) { return StatusAnswer(kBadRequest, "badRequest", message); }

/// The answer to a part with a token after one whose token was not valid: each refusal of a token may be
/// delayed by seconds (access::FailedLogins), and only one per request is allowed.
Response NotTried() {
  const Error error = iam::BadToken(
      "An earlier part of this batch sent an invalid token. Parts with a token of their own are not "
      "processed after that.");
  return Response::Json(wire::PrintErrorBody(error), kUnauthorized);
}

/// The reason why a request cannot be part of a batch; empty for other requests.
std::string_view ReasonAgainst(const Request& request) {
  if (request.path.starts_with("/batch")) return "A batch cannot contain another batch";
  for (const std::string_view prefix : {"/upload/", "/resumable/", "/download/"}) {
    if (request.path.starts_with(prefix)) return "Batch requests do not support uploads and downloads";
  }
  return request.Query("alt") == "media" ? "Batch requests do not support uploads and downloads" : "";
}

awaitable<Result<Response>> Dispatch(const http::Router& router, Request& request) {
  TY_CO_RETURN_IF_ERROR(co_await http::ApplyMethodOverride(request));
  if (const std::string_view reason = ReasonAgainst(request); !reason.empty()) co_return Refused(reason);
  // The access check has only seen the envelope's path.
  TY_CO_RETURN_IF_ERROR(access::CheckMetadataFlavor(request.path, request.headers.Get("Metadata-Flavor")));
  TY_CO_TRY(const http::Handler* handler, router.Find(request));
  Result<Response> response = co_await (*handler)(request);
  if (response && !std::holds_alternative<std::string>(response->body)) {
    co_return Refused("This call cannot be part of a batch");
  }
  co_return response;
}

awaitable<Response> AnswerPart(const http::Router& router, const Request& envelope, BatchCall call) {
  for (const auto& [name, value] : envelope.headers.fields()) {
    if (!IsOfEnvelope(name) && !call.head.headers.Has(name)) call.head.headers.Add(name, value);
  }
  http::TextBody text(std::move(call.body));
  auto request = http::MakeRequest(std::move(call.head), envelope.scheme);
  if (!request) co_return Refused(request.error().reason);
  request->host = envelope.host;
  request->peer = envelope.peer;
  request->client_address = envelope.client_address;
  const auto decoded = http::DecodeBody(*request, text);
  if (!decoded) co_return Refused(decoded.error().reason);
  request->body = decoded->get() != nullptr ? decoded->get() : &text;
  Result<Response> response = co_await Dispatch(router, *request);
  if (response) co_return *std::move(response);
  co_return Response::Json(wire::PrintErrorBody(response.error()), wire::HttpStatus(response.error().code));
}

void AppendPart(std::string& out, std::string_view boundary, const std::string& content_id,
                const Response& response) {
  const auto& body = std::get<std::string>(response.body);
  out.append("--").append(boundary).append("\r\nContent-Type: application/http\r\n");
  if (!content_id.empty()) out.append("Content-ID: ").append(content_id).append("\r\n");
  out.append("\r\nHTTP/1.1 ").append(std::to_string(response.status)).append(" ");
  out.append(http::ReasonPhrase(response.status)).append("\r\n");
  for (const auto& [name, value] : response.headers.fields()) {
    if (http::IsFieldValue(value)) out.append(name).append(": ").append(value).append("\r\n");
  }
  out.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n\r\n");
  out.append(body).append("\r\n");
}

}  // namespace

awaitable<Result<Response>> RunBatch(const http::Router& router, Request& request) {
  TY_CO_TRY(const std::string body, co_await request.body->ReadAll(kBatchBytesMax));
  auto calls = ParseBatch(request.headers.Get("Content-Type"), body);
  if (!calls) co_return Refused(calls.error().message);
  const std::string boundary = "batch_" + RandomHex<16>();
  std::string answers;
  bool has_failed_login = false;
  for (BatchCall& call : *calls) {
    const std::string id = ResponseContentId(call.content_id);
    const bool has_login = call.head.headers.Has("Authorization");
    const bool is_tried = !has_login || !has_failed_login;
    const Response response = is_tried ? co_await AnswerPart(router, request, std::move(call)) : NotTried();
    has_failed_login = has_failed_login || (has_login && response.status == kUnauthorized);
    AppendPart(answers, boundary, id, response);
  }
  answers.append("--").append(boundary).append("--\r\n");
  Response response;
  response.headers.Add("Content-Type", "multipart/mixed; boundary=" + boundary);
  response.body = std::move(answers);
  co_return response;
}

namespace {

constexpr std::size_t kBoundaryBytesMax = 200;  // RFC 2046 allows 70
constexpr std::size_t kFieldsMax = 100;

std::unexpected<Error> Malformed(std::string message) {
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
        return Malformed("The batch has more than " + std::to_string(kBatchCallsMax) + " calls");
      }
    }
    if (closes) return parts;
    start = body.size() - rest.size();
  }
  return Malformed("Failed to parse batch request: the body ends before its closing boundary");
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
    if (!valid) return Malformed("Failed to parse batch request: malformed header fields in a part");
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
  if (!valid) return Malformed("Failed to parse batch request: a part is not an HTTP request");
  return head;
}

Result<BatchCall> ParsePart(std::string_view part) {
  TY_TRY(const http::Headers envelope, TakeFields(part));
  const std::string_view type = envelope.Get("Content-Type");
  if (!http::EqualsIgnoringCase(http::Trim(type.substr(0, type.find(';'))), "application/http")) {
    return Malformed("Failed to parse batch request: a part's Content-Type must be application/http");
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
    return Malformed("A batch needs a Content-Type of multipart/mixed with a boundary");
  }
  TY_TRY(const auto parts, SplitParts(body, boundary));
  if (parts.empty()) return Malformed("The batch has no calls");
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
