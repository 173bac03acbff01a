#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <string>

#include "api/storage/storage_handlers_routes.h"
#include "base/wire/json_indent.h"

namespace trainyard::api::storage_api {
namespace {

namespace json = boost::json;

Response Printed(const json::object& object) {
  return Response::Json(wire::IndentJson(json::serialize(object)));
}

}  // namespace

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
