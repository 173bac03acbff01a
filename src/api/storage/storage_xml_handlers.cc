#include "api/storage/storage_handlers.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "api/storage/storage_handlers_request.h"
#include "api/storage/storage_handlers_routes.h"
#include "base/wire/error_body.h"
#include "net/http/headers.h"
#include "net/http/text.h"
#include "stores/storage/conditions.h"

namespace trainyard::api {
namespace {

using namespace storage_api;

constexpr int kNotModified = 304;
constexpr int kRangeNotSatisfiable = 416;

std::string_view XmlCode(const Error& error) {
  switch (error.code) {
    case Code::kNotFound:
      return error.message.starts_with("The specified bucket") ? "NoSuchBucket" : "NoSuchKey";
    case Code::kFailedPrecondition: return "PreconditionFailed";
    case Code::kInvalidArgument: return "InvalidArgument";
    case Code::kPermissionDenied: return "AccessDenied";
    case Code::kUnauthenticated: return "AuthenticationRequired";
    case Code::kUnavailable: return "ServiceUnavailable";
    default: return "InternalError";
  }
}

/// Empty: use the error's own message.
std::string_view XmlMessage(Code code) {
  if (code == Code::kUnauthenticated) return "Authentication required.";
  return code == Code::kPermissionDenied ? "Access denied." : std::string_view();
}

Response XmlAnswer(int status, std::string_view code, std::string_view message,
                   std::string_view details = {}) {
  Response response;
  response.status = status;
  response.headers.Add("Content-Type", "application/xml; charset=UTF-8");
  http::ConfineContent(response.headers);
  response.body = PrintXmlError(code, message, details);
  return response;
}

/// The XML API's conditions are header fields.
Result<Conditions> ReadXmlConditions(const Request& request) {
  TY_TRY(Conditions when, ReadConditions(request));
  for (const auto& [name, condition] :
       {std::pair("x-goog-if-generation-match", &Conditions::if_generation_match),
        std::pair("x-goog-if-metageneration-match", &Conditions::if_metageneration_match)}) {
    if (!request.headers.Has(name)) continue;
    const auto number = http::ParseDecimal(request.headers.Get(name));
    if (!number) return std::unexpected(InvalidArgument({}, std::string("Invalid value for '") + name + "'"));
    when.*condition = static_cast<std::int64_t>(*number);
  }
  return when;
}

awaitable<Result<Response>> Read(Buckets& buckets, Request& request) {
  TY_CO_TRY(Conditions when, ReadXmlConditions(request));
  co_return co_await ReadMedia(buckets, request, request.Parameter("bucket"), request.Parameter("object"),
                               std::move(when));
}

}  // namespace

Response XmlErrorAnswer(const Error& error) {
  const int status = wire::StorageHttpStatus(error.code);
  const std::string_view message = XmlMessage(error.code);
  if (message.empty()) return XmlAnswer(status, XmlCode(error), error.message);
  return XmlAnswer(status, XmlCode(error), message, error.message);
}

awaitable<Result<Response>> GetXmlObject(Buckets& buckets, Request& request) {
  Result<Response> response = co_await Read(buckets, request);
  if (response && response->status == kRangeNotSatisfiable) {
    const std::string range(response->headers.Get("Content-Range"));
    response = XmlAnswer(kRangeNotSatisfiable, "InvalidRange", "The requested range cannot be satisfied.");
    response->headers.Add("Content-Range", range);
  }
  if (response) co_return response;
  const Error& error = response.error();
  if (storage::IsNotModified(error)) co_return Response::Empty(kNotModified);
  co_return XmlErrorAnswer(error);
}

}  // namespace trainyard::api
