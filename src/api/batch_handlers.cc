#include "api/batch_handlers.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "api/batch_parts.h"
#include "api/storage/storage_handlers_error.h"
#include "base/wire/error_body.h"
#include "net/access/gate.h"
#include "net/http/incoming.h"
#include "net/http/response_writer.h"
#include "net/http/text.h"
#include "rules/iam/refusal.h"
#include "stores/storage/random_id.h"

namespace trainyard::api {
namespace {

using boost::asio::awaitable;
using http::Request;
using http::Response;
using storage_api::StatusAnswer;

// Source: Cloud Storage's page "Batch requests": the total payload must be less than 10 MB.
constexpr std::size_t kBatchBytesMax = std::size_t{10} << 20;
constexpr int kBadRequest = 400;
constexpr int kUnauthorized = 401;

/// A part's body.
class TextBody final : public http::BodyReader {
 public:
  explicit TextBody(std::string text) : text_(std::move(text)) {}
  awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) override {
    const std::size_t length = std::min(buffer.size(), text_.size() - taken_);
    std::memcpy(buffer.data(), text_.data() + taken_, length);
    taken_ += length;
    co_return length;
  }

 private:
  std::string text_;
  std::size_t taken_ = 0;
};

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
      "A part of this batch before this one showed a token that is not valid: parts with tokens of their own "
      "are not tried after it.");
  return Response::Json(wire::PrintErrorBody(error), kUnauthorized);
}

/// The reason why a request cannot be part of a batch; empty for other requests.
std::string_view ReasonAgainst(const Request& request) {
  if (request.path.starts_with("/batch")) return "A batch cannot hold another batch";
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

awaitable<Response> Answer(const http::Router& router, const Request& envelope, BatchCall call) {
  for (const auto& [name, value] : envelope.headers.fields()) {
    if (!IsOfEnvelope(name) && !call.head.headers.Has(name)) call.head.headers.Add(name, value);
  }
  TextBody text(std::move(call.body));
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
  const std::string boundary = "batch_" + storage::RandomId();
  std::string answers;
  bool has_failed_login = false;
  for (BatchCall& call : *calls) {
    const std::string id = ResponseContentId(call.content_id);
    const bool has_login = call.head.headers.Has("Authorization");
    const bool is_tried = !has_login || !has_failed_login;
    const Response response = is_tried ? co_await Answer(router, request, std::move(call)) : NotTried();
    has_failed_login = has_failed_login || (has_login && response.status == kUnauthorized);
    AppendPart(answers, boundary, id, response);
  }
  answers.append("--").append(boundary).append("--\r\n");
  Response response;
  response.headers.Add("Content-Type", "multipart/mixed; boundary=" + boundary);
  response.body = std::move(answers);
  co_return response;
}

}  // namespace trainyard::api
