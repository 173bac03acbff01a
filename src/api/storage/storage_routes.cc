#include "api/route.h"
#include "api/storage/folder_handlers.h"
#include "api/storage/storage_handlers.h"
#include "api/storage/storage_handlers_routes.h"
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
constexpr Route kRows[] = {
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
    {Ask(kBucket, "GET /storage/v1/b/{bucket}", "storage.buckets.get", "storage.buckets.get", kDataRead),
     kServed, kStorage, kCall<GetBucket>},
    {Ask(kBucket, "PATCH /storage/v1/b/{bucket}", "storage.buckets.update", "storage.buckets.update",
         kAdminActivity),
     kServed, kStorage, kCall<PatchBucket>},
    {Ask(kBucket, "PUT /storage/v1/b/{bucket}", "storage.buckets.update", "storage.buckets.update",
         kAdminActivity),
     kServed, kStorage, kCall<UpdateBucket>},
    {Ask(kBucket, "DELETE /storage/v1/b/{bucket}", "storage.buckets.delete", "storage.buckets.delete",
         kAdminActivity),
     kServed, kStorage, kCall<DeleteOwnedBucket>},
    {Ask(kBucket, "GET /storage/v1/b/{bucket}/storageLayout", "storage.objects.list",
         "storage.buckets.getStorageLayout", kDataRead),
     kServed, kStorage, kCall<GetStorageLayout>},
    // The lists are empty here; in Google's service folders have separate permissions, which callers that may
    // list objects have.
    {Ask(kBucket, "GET /storage/v1/b/{bucket}/folders", "storage.objects.list", "storage.folders.list",
         kDataRead),
     kServed, kStorage, kCall<ListNothing>},
    {Ask(kBucket, "GET /storage/v1/b/{bucket}/managedFolders", "storage.objects.list",
         "storage.managedFolders.list", kDataRead),
     kServed, kStorage, kCall<ListNothing>},
    {Ask(kBucket, "GET /storage/v1/b/{bucket}/notificationConfigs", "storage.buckets.get",
         "storage.notifications.list", kDataRead),
     kServed, kStorage, kCall<ListNothing>},
    {Ask(kBucket, "GET /storage/v1/b/{bucket}/anywhereCaches", "storage.buckets.get",
         "storage.anywhereCaches.list", kDataRead),
     kServed, kStorage, kCall<ListNothing>},
    {Ask(kBucket, "GET /storage/v1/b/{bucket}/operations", "storage.buckets.get",
         "storage.bucketOperations.list", kDataRead),
     kServed, kStorage, kCall<ListNothing>},
    {Ask(kBucket, "GET /storage/v1/b/{bucket}/iam", "storage.buckets.getIamPolicy",
         "storage.getIamPermissions", kDataRead),
     kServed, kStorage, kCall<GetBucketPolicy>},
    {Ask(kBucket, "PUT /storage/v1/b/{bucket}/iam", "storage.buckets.setIamPolicy",
         "storage.setIamPermissions", kAdminActivity),
     kServed, kStorage, kCall<SetBucketPolicy>},
    // Its answer only contains the caller's permissions.
    {LoggedIn("GET /storage/v1/b/{bucket}/iam/testPermissions", "storage.testIamPermissions"), kServed,
     kStorage, kCall<TestBucketPermissions>},
    {Ask(kBucket, "GET /storage/v1/b/{bucket}/o/{object}/iam", "storage.objects.getIamPolicy",
         "storage.getIamPermissions", kDataRead),
     kServed, kStorage, kCall<GetBucketPolicy>},
    {LoggedIn("GET /storage/v1/b/{bucket}/o/{object}/iam/testPermissions", "storage.testIamPermissions"),
     kServed, kStorage, kCall<TestBucketPermissions>},
    {Ask(kBucket, "GET /storage/v1/b/{bucket}/o", "storage.objects.list", "storage.objects.list", kDataRead),
     kServed, kStorage, kCall<ListObjects>},
    {Ask(kBucket, "GET /storage/v1/b/{bucket}/o/{object}", "storage.objects.get", "storage.objects.get",
         kDataRead),
     kServed, kStorage, kCall<GetObject>},
    {Ask(kBucket, "GET /download/storage/v1/b/{bucket}/o/{object}", "storage.objects.get",
         "storage.objects.get", kDataRead),
     kServed, kStorage, kCall<GetMedia>},
    {Ask(kBucket, "GET /{bucket}/{object=**}", "storage.objects.get", "storage.objects.get", kDataRead),
     Where::kStorageFront, kBare, kCall<GetXmlObject>},
    {Ask(kBucket, "DELETE /storage/v1/b/{bucket}/o/{object}", "storage.objects.delete",
         "storage.objects.delete", kDataWrite),
     kServed, kStorage, kCall<DeleteObject>},
    {Ask(kBucket, "PATCH /storage/v1/b/{bucket}/o/{object}", "storage.objects.update",
         "storage.objects.update", kDataWrite),
     kServed, kStorage, kCall<PatchObject>},
    {Ask(kBucket, "PUT /storage/v1/b/{bucket}/o/{object}", "storage.objects.update", "storage.objects.update",
         kDataWrite),
     kServed, kStorage, kCall<UpdateObject>},
    // The handler also requires objects.get for the sources (they are in this bucket), and objects.delete to
    // replace an object.
    {Ask(kBucket, "POST /storage/v1/b/{bucket}/o/{object}/compose", "storage.objects.create",
         "storage.objects.compose", kDataWrite),
     kServed, kStorage, kCall<ComposeObject>},
    // The permission is for the source. The handler also requires objects.create on {to_bucket}, and
    // objects.delete to replace an object.
    {Ask(kBucket, "POST /storage/v1/b/{bucket}/o/{object}/copyTo/b/{to_bucket}/o/{to_object}",
         "storage.objects.get", "storage.objects.copy", kDataWrite),
     kServed, kStorage, kCall<CopyObject>},
    {Ask(kBucket, "POST /storage/v1/b/{bucket}/o/{object}/rewriteTo/b/{to_bucket}/o/{to_object}",
         "storage.objects.get", "storage.objects.rewrite", kDataWrite),
     kServed, kStorage, kCall<RewriteObject>},
    // The handler also requires objects.create and objects.delete: the source is deleted.
    {Ask(kBucket, "POST /storage/v1/b/{bucket}/o/{object}/moveTo/o/{to_object}", "storage.objects.get",
         "storage.objects.move", kDataWrite),
     kServed, kStorage, kCall<MoveObject>},
    // The handler also requires objects.delete to replace an object. PUT and DELETE continue an upload that
    // POST began.
    {Ask(kBucket, "POST /upload/storage/v1/b/{bucket}/o", "storage.objects.create", "storage.objects.create",
         kDataWrite),
     kServed, kStorage, kCall<InsertObject>},
    {Ask(kBucket, "PUT /upload/storage/v1/b/{bucket}/o", "storage.objects.create", "storage.objects.create",
         kDataWrite),
     kServed, kStorage, kCall<ContinueUpload>},
    {Ask(kBucket, "DELETE /upload/storage/v1/b/{bucket}/o", "storage.objects.create",
         "storage.objects.cancelUpload", kDataWrite),
     kServed, kStorage, kCall<CancelUpload>},
    {Ask(kBucket, "POST /resumable/upload/storage/v1/b/{bucket}/o", "storage.objects.create",
         "storage.objects.create", kDataWrite),
     kServed, kStorage, kCall<InsertObject>},
    {Ask(kBucket, "PUT /resumable/upload/storage/v1/b/{bucket}/o", "storage.objects.create",
         "storage.objects.create", kDataWrite),
     kServed, kStorage, kCall<ContinueUpload>},
    {Ask(kBucket, "DELETE /resumable/upload/storage/v1/b/{bucket}/o", "storage.objects.create",
         "storage.objects.cancelUpload", kDataWrite),
     kServed, kStorage, kCall<CancelUpload>},
};

}  // namespace

std::span<const Route> StorageRoutes() { return kRows; }

}  // namespace trainyard::api
