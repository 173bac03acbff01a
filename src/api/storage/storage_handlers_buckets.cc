#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <string>
#include <utility>

#include "api/storage/storage_handlers_edit.h"
#include "api/storage/storage_handlers_routes.h"
#include "base/wire/json_indent.h"
#include "base/wire/runs_bucket.h"

namespace trainyard::api::storage_api {

namespace {

void AddLinks(const Request& request, v1::Bucket& bucket) {
  bucket.set_self_link(request.Origin() + "/storage/v1/b/" + bucket.name());
}

awaitable<Result<Response>> Edited(Buckets& buckets, Request& request, storage::BucketEdit edit) {
  TY_CO_TRY(const Conditions when, ReadConditions(request));
  TY_CO_TRY(v1::Bucket bucket,
            co_await buckets.EditBucket(request.Parameter("bucket"), std::move(edit), when));
  co_return BucketAnswer(request, std::move(bucket));
}

}  // namespace

Response BucketAnswer(const Request& request, v1::Bucket bucket) {
  AddLinks(request, bucket);
  Response response = JsonAnswer(bucket);
  response.headers.Set("ETag", bucket.etag());
  return response;
}

Response BucketsAnswer(const Request& request, v1::Buckets page) {
  for (v1::Bucket& bucket : *page.mutable_items()) AddLinks(request, bucket);
  return JsonAnswer(page);
}

awaitable<Result<v1::Bucket>> MakeBucket(Buckets& buckets, Request& request, std::string project) {
  TY_CO_TRY(const bool retention, ReadBool(request, "enableObjectRetention"));
  if (retention)
    co_return std::unexpected(InvalidArgument({}, "Object retention is not supported by this server"));
  v1::Bucket sent;
  TY_CO_RETURN_IF_ERROR(co_await ReadJsonBody(request, sent));
  if (request.caller != nullptr) TY_CO_RETURN_IF_ERROR(wire::CheckRunsBucket(sent.name(), project));
  co_return co_await buckets.InsertBucket(std::move(sent));
}

awaitable<Result<Response>> GetBucket(Buckets& buckets, Request& request) {
  TY_CO_TRY(const Conditions when, ReadConditions(request));
  TY_CO_TRY(const bool soft_deleted, ReadBool(request, "softDeleted"));
  if (soft_deleted || when.generation) {  // deleted objects are not kept, and buckets have no versions
    co_return std::unexpected(NotFound("There is no deleted bucket " + request.Parameter("bucket")));
  }
  TY_CO_TRY(v1::Bucket bucket, co_await buckets.GetBucket(request.Parameter("bucket"), when));
  co_return BucketAnswer(request, std::move(bucket));
}

awaitable<Result<Response>> PatchBucket(Buckets& buckets, Request& request) {
  TY_CO_TRY(const std::string body, co_await ReadTextBody(request));
  TY_CO_TRY(storage::BucketEdit edit, ReadBucketPatch(body));
  co_return co_await Edited(buckets, request, std::move(edit));
}

awaitable<Result<Response>> UpdateBucket(Buckets& buckets, Request& request) {
  TY_CO_TRY(const std::string body, co_await ReadTextBody(request));
  TY_CO_TRY(storage::BucketEdit edit, ReadBucketUpdate(body));
  co_return co_await Edited(buckets, request, std::move(edit));
}

awaitable<Result<v1::Buckets>> PageOfBuckets(Buckets& buckets, Request& request) {
  TY_CO_TRY(const bool soft_deleted, ReadBool(request, "softDeleted"));
  TY_CO_TRY(const std::size_t results_max, ReadResultsMax(request));
  if (soft_deleted) {  // deleted buckets are not kept
    v1::Buckets none;
    none.set_kind("storage#buckets");
    co_return none;
  }
  std::string prefix(request.Query("prefix"));
  std::string token(request.Query("pageToken"));
  co_return co_await buckets.ListBuckets(std::move(prefix), std::move(token), results_max);
}

awaitable<Result<Response>> DeleteBucket(Buckets& buckets, Request& request) {
  TY_CO_TRY(const Conditions when, ReadConditions(request));
  TY_CO_RETURN_IF_ERROR(co_await buckets.DeleteBucket(request.Parameter("bucket"), when));
  co_return Response::Empty();
}

awaitable<Result<Response>> GetStorageLayout(Buckets& buckets, Request& request) {
  TY_CO_TRY(const v1::Bucket bucket, co_await buckets.GetBucket(request.Parameter("bucket")));
  v1::BucketStorageLayout layout;
  layout.set_kind("storage#storageLayout");
  layout.set_bucket(bucket.name());
  layout.set_location(bucket.location());
  layout.set_location_type(bucket.location_type());
  layout.mutable_hierarchical_namespace()->set_enabled(false);
  co_return JsonAnswer(layout);
}

awaitable<Result<Response>> ListNothing(Buckets& buckets, Request& request) {
  TY_CO_TRY(const v1::Bucket present, co_await buckets.GetBucket(request.Parameter("bucket")));
  const std::string_view collection = std::string_view(request.path).substr(request.path.rfind('/') + 1);
  const std::string_view kind = collection == "notificationConfigs" ? "storage#notifications"
                                : collection == "anywhereCaches"    ? "storage#anywhereCaches"
                                : collection == "operations"        ? "storage#operations"
                                : collection == "managedFolders"    ? "storage#managedFolders"
                                                                    : "storage#folders";
  const boost::json::object answer{{"kind", kind}};
  co_return Response::Json(wire::IndentJson(boost::json::serialize(answer)));
}

}  // namespace trainyard::api::storage_api
