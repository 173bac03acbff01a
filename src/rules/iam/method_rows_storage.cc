#include <array>

#include "rules/iam/method_rows.h"

namespace trainyard::iam {
namespace {

// Source: Cloud Storage, "IAM permissions for JSON methods" and "Cloud Audit Logs with Cloud Storage".
constexpr std::array kRows{
    Ask(Scope::kQueryProject, "POST /storage/v1/b", "storage.buckets.create", "storage.buckets.create",
        AuditKind::kAdminActivity),
    Ask(Scope::kQueryProject, "GET /storage/v1/b", "storage.buckets.list", "storage.buckets.list",
        AuditKind::kDataRead),
    Ask(Scope::kBucket, "GET /storage/v1/b/{bucket}", "storage.buckets.get", "storage.buckets.get",
        AuditKind::kDataRead),
    Ask(Scope::kBucket, "PATCH /storage/v1/b/{bucket}", "storage.buckets.update", "storage.buckets.update",
        AuditKind::kAdminActivity),
    Ask(Scope::kBucket, "PUT /storage/v1/b/{bucket}", "storage.buckets.update", "storage.buckets.update",
        AuditKind::kAdminActivity),
    Ask(Scope::kBucket, "DELETE /storage/v1/b/{bucket}", "storage.buckets.delete", "storage.buckets.delete",
        AuditKind::kAdminActivity),
    Ask(Scope::kBucket, "GET /storage/v1/b/{bucket}/storageLayout", "storage.objects.list",
        "storage.buckets.getStorageLayout", AuditKind::kDataRead),
    // The lists are empty here; folders have permissions of their own in the original, which who lists
    // objects has.
    Ask(Scope::kBucket, "GET /storage/v1/b/{bucket}/folders", "storage.objects.list", "storage.folders.list",
        AuditKind::kDataRead),
    Ask(Scope::kBucket, "GET /storage/v1/b/{bucket}/managedFolders", "storage.objects.list",
        "storage.managedFolders.list", AuditKind::kDataRead),
    Ask(Scope::kBucket, "GET /storage/v1/b/{bucket}/notificationConfigs", "storage.buckets.get",
        "storage.notifications.list", AuditKind::kDataRead),
    Ask(Scope::kBucket, "GET /storage/v1/b/{bucket}/anywhereCaches", "storage.buckets.get",
        "storage.anywhereCaches.list", AuditKind::kDataRead),
    Ask(Scope::kBucket, "GET /storage/v1/b/{bucket}/operations", "storage.buckets.get",
        "storage.bucketOperations.list", AuditKind::kDataRead),
    Ask(Scope::kBucket, "GET /storage/v1/b/{bucket}/iam", "storage.buckets.getIamPolicy",
        "storage.getIamPermissions", AuditKind::kDataRead),
    Ask(Scope::kBucket, "PUT /storage/v1/b/{bucket}/iam", "storage.buckets.setIamPolicy",
        "storage.setIamPermissions", AuditKind::kAdminActivity),
    // Its answer is what the caller may.
    LoggedIn("GET /storage/v1/b/{bucket}/iam/testPermissions", "storage.testIamPermissions"),
    Ask(Scope::kBucket, "GET /storage/v1/b/{bucket}/o/{object}/iam", "storage.objects.getIamPolicy",
        "storage.getIamPermissions", AuditKind::kDataRead),
    LoggedIn("GET /storage/v1/b/{bucket}/o/{object}/iam/testPermissions", "storage.testIamPermissions"),
    Ask(Scope::kBucket, "GET /storage/v1/b/{bucket}/o", "storage.objects.list", "storage.objects.list",
        AuditKind::kDataRead),
    Ask(Scope::kBucket, "GET /storage/v1/b/{bucket}/o/{object}", "storage.objects.get", "storage.objects.get",
        AuditKind::kDataRead),
    Ask(Scope::kBucket, "GET /download/storage/v1/b/{bucket}/o/{object}", "storage.objects.get",
        "storage.objects.get", AuditKind::kDataRead),
    Ask(Scope::kBucket, "GET /{bucket}/{object=**}", "storage.objects.get", "storage.objects.get",
        AuditKind::kDataRead),
    Ask(Scope::kBucket, "DELETE /storage/v1/b/{bucket}/o/{object}", "storage.objects.delete",
        "storage.objects.delete", AuditKind::kDataWrite),
    Ask(Scope::kBucket, "PATCH /storage/v1/b/{bucket}/o/{object}", "storage.objects.update",
        "storage.objects.update", AuditKind::kDataWrite),
    Ask(Scope::kBucket, "PUT /storage/v1/b/{bucket}/o/{object}", "storage.objects.update",
        "storage.objects.update", AuditKind::kDataWrite),
    // The handler asks for objects.get of the sources (they are in this bucket), and objects.delete to
    // replace an object.
    Ask(Scope::kBucket, "POST /storage/v1/b/{bucket}/o/{object}/compose", "storage.objects.create",
        "storage.objects.compose", AuditKind::kDataWrite),
    // The source. The handler asks for objects.create on {to_bucket}, and objects.delete to replace an
    // object.
    Ask(Scope::kBucket, "POST /storage/v1/b/{bucket}/o/{object}/copyTo/b/{to_bucket}/o/{to_object}",
        "storage.objects.get", "storage.objects.copy", AuditKind::kDataWrite),
    Ask(Scope::kBucket, "POST /storage/v1/b/{bucket}/o/{object}/rewriteTo/b/{to_bucket}/o/{to_object}",
        "storage.objects.get", "storage.objects.rewrite", AuditKind::kDataWrite),
    // The handler asks for objects.create and objects.delete: the source goes.
    Ask(Scope::kBucket, "POST /storage/v1/b/{bucket}/o/{object}/moveTo/o/{to_object}", "storage.objects.get",
        "storage.objects.move", AuditKind::kDataWrite),
    // The handler asks for objects.delete to replace an object. PUT and DELETE go on with an upload that POST
    // began.
    Ask(Scope::kBucket, "POST /upload/storage/v1/b/{bucket}/o", "storage.objects.create",
        "storage.objects.create", AuditKind::kDataWrite),
    Ask(Scope::kBucket, "PUT /upload/storage/v1/b/{bucket}/o", "storage.objects.create",
        "storage.objects.create", AuditKind::kDataWrite),
    Ask(Scope::kBucket, "DELETE /upload/storage/v1/b/{bucket}/o", "storage.objects.create",
        "storage.objects.cancelUpload", AuditKind::kDataWrite),
    Ask(Scope::kBucket, "POST /resumable/upload/storage/v1/b/{bucket}/o", "storage.objects.create",
        "storage.objects.create", AuditKind::kDataWrite),
    Ask(Scope::kBucket, "PUT /resumable/upload/storage/v1/b/{bucket}/o", "storage.objects.create",
        "storage.objects.create", AuditKind::kDataWrite),
    Ask(Scope::kBucket, "DELETE /resumable/upload/storage/v1/b/{bucket}/o", "storage.objects.create",
        "storage.objects.cancelUpload", AuditKind::kDataWrite),
};

}  // namespace

std::span<const MethodRule> StorageRows() { return kRows; }

}  // namespace trainyard::iam
