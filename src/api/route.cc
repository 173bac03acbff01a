#include "api/route.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "api/batch_handlers.h"
#include "api/discovery_handlers.h"
#include "api/storage/storage_handlers.h"
#include "api/storage/storage_handlers_request.h"
#include "base/async/diagnostics.h"
#include "base/check.h"
#include "base/wire/error_body.h"
#include "control/intake/request_quota.h"

namespace trainyard::api {

namespace {

using control::RequestQuota;
using http::Method;
using iam::LoggedIn;
using iam::Public;

/// Clients that know Retry-After, such as gcloud, retry at the right time.
Call::Reply Limited(RequestQuota& quota, RequestQuota::Kind kind, const http::Handler& handler,
                    Request& request) {
  std::optional<RequestQuota::Refusal> refusal = quota.Take(request.Parameter("project"), kind);
  if (!refusal) {
    TY_CO_TRY(Response answer, co_await handler(request));
    answer.headers.Set("Cache-Control", "no-store");  // webAccessUris open shells
    co_return answer;
  }
  Response response =
      Response::Json(wire::PrintErrorBody(refusal->error), wire::HttpStatus(refusal->error.code));
  response.headers.Set("Retry-After", std::to_string(refusal->retry_after.count()));
  co_return response;
}

/// Null: the source is not given.
std::shared_ptr<void> Find(std::span<const Source> sources, const char* type) {
  const auto found = std::ranges::find(sources, type, &Source::type);
  return found == sources.end() ? nullptr : found->object;
}

template <class T>
T* Find(std::span<const Source> sources) {
  return static_cast<T*>(Find(sources, &TypeTag<T>::kId).get());
}

/// Null: a source is missing.
http::Handler HandlerOf(const Route& row, std::span<const Source> sources) {
  std::shared_ptr<void> first = Find(sources, row.call.first);
  std::shared_ptr<void> second = Find(sources, row.call.second);
  if ((row.call.first != nullptr && !first) || (row.call.second != nullptr && !second)) return nullptr;
  http::Handler handler = [invoke = row.call.invoke, first, second](Request& request) {
    return invoke(first.get(), second.get(), request);
  };
  switch (row.form.kind) {
    case Form::Kind::kBare: return handler;
    case Form::Kind::kGoogle: return WithSystemParameters(row.form, std::move(handler));
    case Form::Kind::kStorage: {
      const auto* identities = Find<identity::Identities>(sources);
      return identities == nullptr ? nullptr : InStorageForm(*identities, std::move(handler));
    }
    case Form::Kind::kMl:
    case Form::Kind::kMlCreate: break;
  }
  auto* quota = Find<RequestQuota>(sources);
  if (quota == nullptr) return nullptr;
  const bool creates = row.form.kind == Form::Kind::kMlCreate;
  const auto kind = creates ? RequestQuota::Kind::kCreate : RequestQuota::Kind::kOther;
  http::Handler limited = [quota, kind, handler = std::move(handler)](Request& request) {
    return Limited(*quota, kind, handler, request);
  };
  return WithSystemParameters(row.form, std::move(limited));
}

Call::Reply RefuseToReplica(Request&) {
  return ReplyOf(
      std::unexpected(Error{Code::kPermissionDenied,
                            "Programs in replicas may not do this. They can use buckets, the metadata "
                            "server, logs and studies, and can read jobs. To create, change or cancel jobs, "
                            "use the server's own address from outside: eval \"$(trainyard env)\".",
                            ""}));
}

constexpr std::array<std::string_view, 4> kJsonStorage{"/storage/", "/upload/storage/",
                                                       "/resumable/upload/storage/", "/download/storage/"};
constexpr std::string_view kXmlStorage = "/{bucket}";  // no other API begins with a parameter

constexpr Where kBatches = kEverywhere | Where::kStorageFront;
constexpr Route kRows[] = {
    // Each part is checked by its own route's row. The envelope requires a login, too: its body has up to 10
    // MB, which are not read for unknown callers.
    {LoggedIn("POST /batch", ""), kBatches, kBare, kCall<RunBatch>},
    {LoggedIn("POST /batch/ml/v1", ""), kBatches, kBare, kCall<RunBatch>},
    {LoggedIn("POST /batch/storage/v1", ""), kBatches, kBare, kCall<RunBatch>},
    // Descriptions of the APIs, which clients read before they log in.
    {Public("GET /$discovery/rest"), kEverywhere, kBare, kCall<DiscoverByHost>},
    {Public("GET /discovery/v1/apis"), kEverywhere, kBare, kCall<ListApis>},
    {Public("GET /discovery/v1/apis/{api}/{version}/rest"), kEverywhere, kBare, kCall<DiscoverByPath>},
};

}  // namespace

Call::Reply ReplyOf(Result<Response> answer) { co_return answer; }

std::span<const Route> SharedRoutes() { return kRows; }

std::vector<Route> AllRoutes() {
  std::vector<Route> all;
  for (const auto rows : {MlRoutes(), OwnRoutes(), StorageRoutes(), LoggingRoutes(), IamRoutes(),
                          MetadataRoutes(), ConsoleRoutes(), VertexRoutes(), SharedRoutes()})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

const iam::MethodTable& Methods() {
  static const iam::MethodTable kTable = [] {
    std::vector<iam::MethodRule> rules;
    for (const Route& row : AllRoutes()) rules.push_back(row.rule);
    return iam::MethodTable(std::move(rules));
  }();
  return kTable;
}

std::vector<std::string_view> AddRoutes(http::Router& router, std::span<const Route> rows, Where where,
                                        std::span<const Source> sources) {
  std::vector<std::string_view> missing;
  for (const Route& row : rows) {
    if (!Meets(row.where, where)) continue;
    if (http::Handler handler = HandlerOf(row, sources))
      router.Add(row.rule.route, std::move(handler));
    else
      missing.push_back(row.rule.route);
  }
  return missing;
}

void AddAllRoutes(http::Router& router, Where where, std::span<const Source> sources) {
  std::vector<Source> all(sources.begin(), sources.end());
  all.push_back(Lend(router));  // for batches
  const std::vector<std::string_view> missing = AddRoutes(router, AllRoutes(), where, all);
  for (const std::string_view route : missing)
    Diagnose(DiagnosticLevel::kError, "a source is missing for " + std::string(route));
  TY_CHECK(missing.empty());
  if (Meets(where, kEverywhere | Where::kStorageFront)) AddStorageRefusals(router);
  if (Meets(where, Where::kReplicas)) AddReplicaRefusals(router);
}

void AddReplicaRefusals(http::Router& router) {
  for (const Route& row : AllRoutes()) {
    if (Meets(row.where, Where::kRefused)) router.AddRefusal(row.rule.route, RefuseToReplica);
  }
  for (const char* verb : {"GET", "POST", "PUT", "PATCH", "DELETE"})  // all routes of our own
    router.AddRefusal(std::string(verb) + " /trainyard/{rest=**}", RefuseToReplica);
}

http::Response RefusalAnswer(std::string_view route, const Error& error) {
  const std::string_view path = route.substr(std::min(route.find('/'), route.size()));
  if (path.starts_with(kXmlStorage)) return XmlErrorAnswer(error);
  const auto begins = [path](std::string_view prefix) { return path.starts_with(prefix); };
  if (std::ranges::any_of(kJsonStorage, begins)) return storage_api::ErrorAnswer(error);
  return Response::Json(wire::PrintErrorBody(error), wire::HttpStatus(error.code));
}

}  // namespace trainyard::api
