#include "api/ml/ml_methods.h"

#include <memory>
#include <optional>
#include <utility>

#include "base/wire/error_body.h"

namespace trainyard::api {
namespace {

using boost::asio::awaitable;
using control::RequestQuota;
using http::Request;
using http::Response;

/// Clients that know Retry-After, such as gcloud, retry at the right time.
awaitable<Result<Response>> Limited(RequestQuota& quota, RequestQuota::Kind kind,
                                    std::shared_ptr<const http::Handler> handler, Request& request) {
  std::optional<RequestQuota::Refusal> refusal = quota.Take(request.Parameter("project"), kind);
  if (!refusal) {
    TY_CO_TRY(Response answer, co_await (*handler)(request));
    answer.headers.Set("Cache-Control", "no-store");  // webAccessUris open shells
    co_return answer;
  }
  Response response =
      Response::Json(wire::PrintErrorBody(refusal->error), wire::HttpStatus(refusal->error.code));
  response.headers.Set("Retry-After", std::to_string(refusal->retry_after.count()));
  co_return response;
}

}  // namespace

void MlMethods::Add(http::Method verb, std::string_view pattern, MethodForm form, http::Handler handler,
                    RequestQuota::Kind kind) {
  auto shared = std::make_shared<const http::Handler>(std::move(handler));
  http::Handler limited = [&quota = quota_, kind, shared](Request& request) {
    return Limited(quota, kind, shared, request);
  };
  router_.Add(verb, pattern, WithSystemParameters(std::move(form), std::move(limited)));
}

}  // namespace trainyard::api
