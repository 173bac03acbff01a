#include "api/storage_handlers.h"

#include <string>

#include "api/storage_handlers_routes.h"

namespace trainyard::api {
namespace {

using namespace storage_api;
using http::Method;

using Function = awaitable<Result<Response>> (*)(Buckets& buckets, Request& request);

/// Storage's errors look different from those of the other APIs.
awaitable<Result<Response>> Answer(Function function, Buckets& buckets, Request& request) {
  Result<Response> response = co_await function(buckets, request);
  if (!response) response = ErrorAnswer(response.error());
  co_return response;
}

}  // namespace

void AddStorageRoutes(http::Router& router, storage::Buckets& buckets) {
  const auto add = [&router, &buckets](Method method, const std::string& pattern, Function function) {
    router.Add(method, pattern,
               [&buckets, function](Request& request) { return Answer(function, buckets, request); });
  };
  const std::string all = "/storage/v1/b";
  const std::string bucket = all + "/{bucket}";
  const std::string object = bucket + "/o/{object}";
  add(Method::kPost, all, InsertBucket);
  add(Method::kGet, all, ListBuckets);
  add(Method::kGet, bucket, GetBucket);
  add(Method::kDelete, bucket, DeleteBucket);
  add(Method::kGet, bucket + "/storageLayout", GetStorageLayout);
  add(Method::kGet, bucket + "/folders", ListFolders);
  add(Method::kGet, bucket + "/managedFolders", ListFolders);

  add(Method::kGet, bucket + "/o", ListObjects);
  add(Method::kGet, object, GetObject);
  add(Method::kDelete, object, DeleteObject);
  add(Method::kPatch, object, PatchObject);
  add(Method::kPut, object, UpdateObject);
  add(Method::kPost, object + "/compose", ComposeObject);
  add(Method::kPost, object + "/copyTo/b/{to_bucket}/o/{to_object}", CopyObject);
  add(Method::kPost, object + "/rewriteTo/b/{to_bucket}/o/{to_object}", RewriteObject);
  add(Method::kPost, object + "/moveTo/o/{to_object}", MoveObject);
  add(Method::kGet, "/download" + object, GetMedia);

  for (const char* prefix : {"/upload", "/resumable/upload"}) {
    const std::string upload = prefix + bucket + "/o";
    add(Method::kPost, upload, InsertObject);
    add(Method::kPut, upload, ContinueUpload);
    add(Method::kDelete, upload, CancelUpload);
  }
}

}  // namespace trainyard::api
