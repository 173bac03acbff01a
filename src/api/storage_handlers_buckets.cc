#include <utility>

#include "api/storage_handlers_routes.h"

namespace trainyard::api::storage_api {
namespace {

void AddLinks(const Request& request, v1::Bucket& bucket) {
  bucket.set_self_link(request.Origin() + "/storage/v1/b/" + bucket.name());
}

Response BucketAnswer(const Request& request, v1::Bucket bucket) {
  AddLinks(request, bucket);
  return JsonAnswer(bucket);
}

}  // namespace

awaitable<Result<Response>> InsertBucket(Buckets& buckets, Request& request) {
  TY_CO_TRY(const bool retention, ReadBool(request, "enableObjectRetention"));
  if (retention)
    co_return std::unexpected(InvalidArgument({}, "Object retention is not supported by this server"));
  v1::Bucket sent;
  TY_CO_RETURN_IF_ERROR(co_await ReadJsonBody(request, sent));
  TY_CO_TRY(v1::Bucket bucket, co_await buckets.InsertBucket(std::move(sent)));
  co_return BucketAnswer(request, std::move(bucket));
}

awaitable<Result<Response>> GetBucket(Buckets& buckets, Request& request) {
  TY_CO_TRY(v1::Bucket bucket, co_await buckets.GetBucket(request.Parameter("bucket")));
  co_return BucketAnswer(request, std::move(bucket));
}

awaitable<Result<Response>> ListBuckets(Buckets& buckets, Request& request) {
  TY_CO_TRY(const bool soft_deleted, ReadBool(request, "softDeleted"));
  TY_CO_TRY(const std::size_t results_max, ReadResultsMax(request));
  if (soft_deleted) {  // what is deleted here is gone
    v1::Buckets none;
    none.set_kind("storage#buckets");
    co_return JsonAnswer(none);
  }
  std::string prefix(request.Query("prefix"));
  std::string token(request.Query("pageToken"));
  TY_CO_TRY(v1::Buckets page, co_await buckets.ListBuckets(std::move(prefix), std::move(token), results_max));
  for (v1::Bucket& bucket : *page.mutable_items()) AddLinks(request, bucket);
  co_return JsonAnswer(page);
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

awaitable<Result<Response>> ListFolders(Buckets& buckets, Request& request) {
  TY_CO_TRY(const v1::Bucket bucket, co_await buckets.GetBucket(request.Parameter("bucket")));
  const bool managed = request.path.ends_with("/managedFolders");
  co_return Response::Json(managed ? "{\n  \"kind\": \"storage#managedFolders\"\n}\n"
                                   : "{\n  \"kind\": \"storage#folders\"\n}\n");
}

}  // namespace trainyard::api::storage_api
