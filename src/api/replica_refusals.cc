#include "api/own/extension_handlers.h"

#include <array>
#include <string_view>
#include <utility>

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using http::Method;
using http::Request;
using http::Response;

constexpr std::array<std::pair<Method, std::string_view>, 8> kMethods{{
    {Method::kPost, "/v1/projects/{project}/jobs"},
    {Method::kPatch, "/v1/projects/{project}/jobs/{job}"},
    {Method::kPost, "/v1/projects/{project}/jobs/{job}:cancel"},
    {Method::kGet, "/v1/projects/{project}/jobs/{job}:getIamPolicy"},
    {Method::kPost, "/v1/projects/{project}/jobs/{job}:setIamPolicy"},
    {Method::kPost, "/v1/projects/{project}/jobs/{job}:testIamPermissions"},
    {Method::kGet, "/metrics"},
    {Method::kGet, "/readyz"},
}};

/// Everything of Trainyard's own.
constexpr std::string_view kOwn = "/trainyard/{rest=**}";

awaitable<Result<Response>> Refuse(Request&) {
  co_return std::unexpected(Error{
      Code::kPermissionDenied,
      "A program in a replica may not do this: it has buckets, the metadata server, logs, studies, and "
      "jobs to read. Jobs are created, changed and cancelled from outside, at the server's own address: "
      "eval \"$(trainyard env)\".",
      ""});
}

}  // namespace

void AddReplicaRefusals(http::Router& router) {
  for (const auto& [method, pattern] : kMethods) router.AddRefusal(method, pattern, Refuse);
  for (const Method method : {Method::kGet, Method::kPost, Method::kPut, Method::kPatch, Method::kDelete})
    router.AddRefusal(method, kOwn, Refuse);
}

}  // namespace trainyard::api
