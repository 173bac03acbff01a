#include "api/route.h"
#include "api/storage/folder_handlers.h"
#include "api/storage/storage_handlers.h"
#include "trainyard/control/v1/folders.pb.h"

namespace trainyard::api {
namespace {

using iam::Ask;
using enum iam::AuditKind;
using iam::LoggedIn;
using enum iam::Scope;
using namespace storage_api;  // NOLINT: its functions
using control::v1::FolderRemoval;
using control::v1::FolderSummary;

constexpr Where kServed = kEverywhere | Where::kStorageFront;
/// A method of storage v1 on a bucket; `method`: its name in the audit log, if it is not the permission's.
constexpr Route Bucket(std::string_view route, std::string_view permission, iam::AuditKind audit, Call call,
                       std::string_view method = {}) {
  return {Ask(kBucket, route, permission, method.empty() ? permission : method, audit), kServed, kStorage,
          call};
}

constexpr Route kStorageRoutes[] = {
    // Source: Cloud Storage, "IAM permissions for JSON methods" and "Cloud Audit Logs with Cloud Storage".
    // The handlers also require objects.list if the row has another permission.
    {Ask(kBucket, "GET /trainyard/v1/buckets/{bucket}/folder:summarize", "storage.objects.list",
         "trainyard.v1.Folders.Summarize", kDataRead),
     kOutside, Json<FolderSummary>("prefix"), kCall<SummarizeFolder>},
    {Ask(kBucket, "GET /trainyard/v1/buckets/{bucket}/folder:download", "storage.objects.get",
         "trainyard.v1.Folders.Download", kDataRead),
     kOutside, Stream("prefix format"), kCall<DownloadFolder>},
    {Ask(kBucket, "DELETE /trainyard/v1/buckets/{bucket}/folder", "storage.objects.delete",
         "trainyard.v1.Folders.Delete", kDataWrite),
     kOutside, Json<FolderRemoval>("prefix"), kCall<RemoveFolder>},
    {Ask(kQueryProject, "POST /storage/v1/b", "storage.buckets.create", "storage.buckets.create",
         kAdminActivity),
     kServed, kStorage, kCall<InsertOwnedBucket>},
    {Ask(kQueryProject, "GET /storage/v1/b", "storage.buckets.list", "storage.buckets.list", kDataRead),
     kServed, kStorage, kCall<ListOwnedBuckets>},
    Bucket("GET /storage/v1/b/{bucket}", "storage.buckets.get", kDataRead, kCall<GetBucket>),
    Bucket("PATCH /storage/v1/b/{bucket}", "storage.buckets.update", kAdminActivity, kCall<PatchBucket>),
    Bucket("PUT /storage/v1/b/{bucket}", "storage.buckets.update", kAdminActivity, kCall<UpdateBucket>),
    Bucket("DELETE /storage/v1/b/{bucket}", "storage.buckets.delete", kAdminActivity,
           kCall<DeleteOwnedBucket>),
    Bucket("GET /storage/v1/b/{bucket}/storageLayout", "storage.objects.list", kDataRead,
           kCall<GetStorageLayout>, "storage.buckets.getStorageLayout"),
    // The lists are empty here; in Google's service folders have separate permissions, which callers that may
    // list objects have.
    Bucket("GET /storage/v1/b/{bucket}/folders", "storage.objects.list", kDataRead, kCall<ListNothing>,
           "storage.folders.list"),
    Bucket("GET /storage/v1/b/{bucket}/managedFolders", "storage.objects.list", kDataRead, kCall<ListNothing>,
           "storage.managedFolders.list"),
    Bucket("GET /storage/v1/b/{bucket}/notificationConfigs", "storage.buckets.get", kDataRead,
           kCall<ListNothing>, "storage.notifications.list"),
    Bucket("GET /storage/v1/b/{bucket}/anywhereCaches", "storage.buckets.get", kDataRead, kCall<ListNothing>,
           "storage.anywhereCaches.list"),
    Bucket("GET /storage/v1/b/{bucket}/operations", "storage.buckets.get", kDataRead, kCall<ListNothing>,
           "storage.bucketOperations.list"),
    Bucket("GET /storage/v1/b/{bucket}/iam", "storage.buckets.getIamPolicy", kDataRead,
           kCall<GetBucketPolicy>, "storage.getIamPermissions"),
    Bucket("PUT /storage/v1/b/{bucket}/iam", "storage.buckets.setIamPolicy", kAdminActivity,
           kCall<SetBucketPolicy>, "storage.setIamPermissions"),
    // Its answer only contains the caller's permissions.
    {LoggedIn("GET /storage/v1/b/{bucket}/iam/testPermissions", "storage.testIamPermissions"), kServed,
     kStorage, kCall<TestBucketPermissions>},
    Bucket("GET /storage/v1/b/{bucket}/o/{object}/iam", "storage.objects.getIamPolicy", kDataRead,
           kCall<GetBucketPolicy>, "storage.getIamPermissions"),
    {LoggedIn("GET /storage/v1/b/{bucket}/o/{object}/iam/testPermissions", "storage.testIamPermissions"),
     kServed, kStorage, kCall<TestBucketPermissions>},
    Bucket("GET /storage/v1/b/{bucket}/o", "storage.objects.list", kDataRead, kCall<ListObjects>),
    Bucket("GET /storage/v1/b/{bucket}/o/{object}", "storage.objects.get", kDataRead, kCall<GetObject>),
    Bucket("GET /download/storage/v1/b/{bucket}/o/{object}", "storage.objects.get", kDataRead,
           kCall<GetMedia>),
    {Ask(kBucket, "GET /{bucket}/{object=**}", "storage.objects.get", "storage.objects.get", kDataRead),
     Where::kStorageFront, kBare, kCall<GetXmlObject>},
    Bucket("DELETE /storage/v1/b/{bucket}/o/{object}", "storage.objects.delete", kDataWrite,
           kCall<DeleteObject>),
    Bucket("PATCH /storage/v1/b/{bucket}/o/{object}", "storage.objects.update", kDataWrite,
           kCall<PatchObject>),
    Bucket("PUT /storage/v1/b/{bucket}/o/{object}", "storage.objects.update", kDataWrite,
           kCall<UpdateObject>),
    // The handler also requires objects.get for the sources (they are in this bucket), and objects.delete to
    // replace an object.
    Bucket("POST /storage/v1/b/{bucket}/o/{object}/compose", "storage.objects.create", kDataWrite,
           kCall<ComposeObject>, "storage.objects.compose"),
    // The permission is for the source. The handler also requires objects.create on {to_bucket}, and
    // objects.delete to replace an object.
    Bucket("POST /storage/v1/b/{bucket}/o/{object}/copyTo/b/{to_bucket}/o/{to_object}", "storage.objects.get",
           kDataWrite, kCall<CopyObject>, "storage.objects.copy"),
    Bucket("POST /storage/v1/b/{bucket}/o/{object}/rewriteTo/b/{to_bucket}/o/{to_object}",
           "storage.objects.get", kDataWrite, kCall<RewriteObject>, "storage.objects.rewrite"),
    // The handler also requires objects.create and objects.delete: the source is deleted.
    Bucket("POST /storage/v1/b/{bucket}/o/{object}/moveTo/o/{to_object}", "storage.objects.get", kDataWrite,
           kCall<MoveObject>, "storage.objects.move"),
    // The handler also requires objects.delete to replace an object. PUT and DELETE continue an upload that
    // POST began.
    Bucket("POST /upload/storage/v1/b/{bucket}/o", "storage.objects.create", kDataWrite, kCall<InsertObject>),
    Bucket("PUT /upload/storage/v1/b/{bucket}/o", "storage.objects.create", kDataWrite,
           kCall<ContinueUpload>),
    Bucket("DELETE /upload/storage/v1/b/{bucket}/o", "storage.objects.create", kDataWrite,
           kCall<CancelUpload>, "storage.objects.cancelUpload"),
    Bucket("POST /resumable/upload/storage/v1/b/{bucket}/o", "storage.objects.create", kDataWrite,
           kCall<InsertObject>),
    Bucket("PUT /resumable/upload/storage/v1/b/{bucket}/o", "storage.objects.create", kDataWrite,
           kCall<ContinueUpload>),
    Bucket("DELETE /resumable/upload/storage/v1/b/{bucket}/o", "storage.objects.create", kDataWrite,
           kCall<CancelUpload>, "storage.objects.cancelUpload"),
};

}  // namespace

std::span<const Route> StorageRoutes() { return kStorageRoutes; }

}  // namespace trainyard::api
