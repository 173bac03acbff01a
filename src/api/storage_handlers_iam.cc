#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <string>

#include "api/storage_handlers_routes.h"
#include "wire/json_indent.h"

namespace trainyard::api::storage_api {
namespace {

namespace json = boost::json;

Response Printed(const json::object& object) {
  return Response::Json(wire::IndentJson(json::serialize(object)));
}

/// "projects/_/buckets/B" or "projects/_/buckets/B/objects/O", once it is there.
awaitable<Result<std::string>> ResourceId(Buckets& buckets, Request& request) {
  const std::string bucket = request.Parameter("bucket");
  std::string id = "projects/_/buckets/" + bucket;
  for (const auto& [name, value] : request.parameters) {
    if (name != "object") continue;
    TY_CO_TRY(const v1::Object object, co_await buckets.Stat(bucket, value));
    co_return id.append("/objects/").append(object.name());
  }
  TY_CO_TRY(const v1::Bucket present, co_await buckets.GetBucket(bucket));
  co_return id;
}

}  // namespace

awaitable<Result<Response>> GetIamPolicy(Buckets& buckets, Request& request) {
  TY_CO_TRY(const std::string id, co_await ResourceId(buckets, request));
  co_return Printed({{"kind", "storage#policy"},
                     {"resourceId", id},
                     {"version", 1},
                     {"etag", "CAE="},
                     {"bindings", json::array()}});
}

awaitable<Result<Response>> TestIamPermissions(Buckets& buckets, Request& request) {
  TY_CO_TRY(const std::string id, co_await ResourceId(buckets, request));
  json::array permissions;
  for (const auto& [name, value] : request.query) {
    if (name == "permissions") permissions.emplace_back(value);
  }
  co_return Printed(
      {{"kind", "storage#testIamPermissionsResponse"}, {"permissions", std::move(permissions)}});
}

awaitable<Result<Response>> ListNothing(Buckets& buckets, Request& request) {
  TY_CO_TRY(const v1::Bucket present, co_await buckets.GetBucket(request.Parameter("bucket")));
  const std::string_view collection = std::string_view(request.path).substr(request.path.rfind('/') + 1);
  const std::string_view kind = collection == "notificationConfigs" ? "storage#notifications"
                                : collection == "anywhereCaches"    ? "storage#anywhereCaches"
                                : collection == "operations"        ? "storage#operations"
                                : collection == "managedFolders"    ? "storage#managedFolders"
                                                                    : "storage#folders";
  co_return Printed({{"kind", kind}});
}

}  // namespace trainyard::api::storage_api
