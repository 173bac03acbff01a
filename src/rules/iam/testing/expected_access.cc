#include "rules/iam/testing/expected_access.h"

namespace trainyard::iam::testing {
namespace {

constexpr ExpectedAccess kRoutes[] = {
    {Where::kNobodyAsked, "",
     "GET /$discovery/rest\n"
     "GET /discovery/v1/apis\n"
     "GET /discovery/v1/apis/{api}/{version}/rest\n"
     "POST /token\n"
     "POST /v1/token\n"
     "POST /v1/introspect\n"
     "GET /healthz\n"
     "GET /trainyard/v1/shells/{ticket}\n"
     "GET /readyz\n"
     "GET /\n"
     "GET /favicon.ico\n"
     "GET /ui\n"
     "GET /ui/\n"
     "GET /ui/{path=**}\n"
     "GET /mlengine/jobs/{job}\n"
     "GET /logs\n"
     "GET /trainyard/v1/session\n"
     "POST /trainyard/v1/session\n"
     "DELETE /trainyard/v1/session\n"
     "GET /computeMetadata/\n"
     "GET /computeMetadata/v1\n"
     "GET /computeMetadata/v1/\n"
     "GET /computeMetadata/v1/{path=**}\n"
     "GET /replica/v1/attach\n"
     "GET /v1/projects/{project}/locations/{location}/nodes\n"
     "GET /v1/projects/{project}/locations/{location}/nodes/{node}\n"},
    {Where::kLoggedIn, "",
     "POST /batch\n"
     "POST /batch/ml/v1\n"
     "POST /batch/storage/v1\n"
     "POST /v1/projects/{project}/jobs/{job}:testIamPermissions\n"
     "POST /v1/projects/{project}:testIamPermissions\n"
     "POST /v1/projects/{project}/serviceAccounts/{account}:testIamPermissions\n"
     "GET /storage/v1/b/{bucket}/iam/testPermissions\n"
     "GET /storage/v1/b/{bucket}/o/{object}/iam/testPermissions\n"
     "GET /v1/roles\n"
     "GET /v1/operations/{operation}\n"
     "GET /v1/roles/{role}\n"
     "GET /compute/v1/projects/{project}/regions/{region}\n"
     "GET /compute/v1/projects/{project}/zones/{zone}\n"
     "POST /v1/permissions:queryTestablePermissions\n"
     "GET /trainyard/v1/whoami\n"
     "GET /trainyard/v1/runtimes\n"
     "GET /trainyard/v1/machine\n"
     "GET /trainyard/v1/machine/usage\n"
     "GET /trainyard/v1/images\n"},
    {Where::kProject, "ml.admin ml.developer ml.jobOwner owner editor trainyard.member",
     "POST /v1/projects/{project}/jobs\n"
     "POST /trainyard/v1/projects/{project}/jobs:validate\n"},
    {Where::kProject,
     "ml.admin ml.developer ml.viewer ml.serviceAgent owner editor viewer "
     "trainyard.member ml.jobOwner",
     "GET /v1/projects/{project}/jobs\n"
     "GET /trainyard/v1/projects/{project}/jobs\n"
     "GET /trainyard/v1/projects/{project}/jobs:watch\n"
     "GET /trainyard/v1/projects/{project}/jobs:summarize\n"},
    {Where::kJob,
     "ml.admin ml.developer ml.viewer ml.serviceAgent owner editor viewer "
     "trainyard.member ml.jobOwner",
     "GET /v1/projects/{project}/jobs/{job}\n"
     "GET /trainyard/v1/projects/{project}/jobs/{job}\n"
     "GET /trainyard/v1/projects/{project}/jobs/{job}/preparation\n"
     "GET /trainyard/v1/projects/{project}/jobs/{job}/metrics\n"
     "GET /trainyard/v1/projects/{project}/jobs/{job}/scalars\n"
     "GET /trainyard/v1/projects/{project}/jobs/{job}/summaries\n"
     "GET /trainyard/v1/projects/{project}/jobs/{job}/summaries:read\n"
     "GET /trainyard/v1/projects/{project}/jobs/{job}/events\n"
     "GET /trainyard/v1/projects/{project}/jobs/{job}/tuning:explain\n"},
    {Where::kJob, "ml.admin ml.jobOwner owner editor",
     "PATCH /v1/projects/{project}/jobs/{job}\n"
     "POST /v1/projects/{project}/jobs/{job}:cancel\n"},
    {Where::kJob, "ml.admin ml.developer ml.jobOwner owner editor viewer trainyard.member",
     "GET /v1/projects/{project}/jobs/{job}:getIamPolicy\n"},
    {Where::kJob, "ml.admin ml.jobOwner owner", "POST /v1/projects/{project}/jobs/{job}:setIamPolicy\n"},
    {Where::kJob, "ml.admin owner", "DELETE /trainyard/v1/projects/{project}/jobs/{job}\n"},
    {Where::kJob, "ml.admin ml.jobOwner owner editor",
     "POST /trainyard/v1/projects/{project}/jobs/{job}:maintain\n"
     "POST /trainyard/v1/projects/{project}/jobs/{job}/replicas/{task}:shellTicket\n"
     "GET /trainyard/v1/projects/{project}/jobs/{job}/replicas/{task}:shell\n"},
    {Where::kProject,
     "ml.admin ml.developer ml.viewer ml.serviceAgent owner editor viewer "
     "trainyard.member",
     "GET /v1/projects/{project}:getConfig\n"
     "GET /v1/projects/{project}/locations\n"
     "GET /v1/projects/{project}/locations/{location}\n"},
    {Where::kProject,
     "ml.admin ml.developer ml.viewer ml.serviceAgent owner editor viewer "
     "trainyard.member ml.operationOwner",
     "GET /v1/projects/{project}/operations\n"
     "GET /v1/projects/{project}/operations/{operation}\n"
     "GET /v1/projects/{project}/locations/{location}/operations/{operation}\n"},
    {Where::kProject, "ml.admin ml.operationOwner owner editor",
     "POST /v1/projects/{project}/operations/{operation}:cancel\n"
     "POST /v1/projects/{project}/locations/{location}/operations/{operation}:cancel\n"},
    {Where::kProject, "ml.admin ml.developer ml.serviceAgent owner editor trainyard.member",
     "POST /v1/projects/{project}/locations/{location}/studies\n"
     "DELETE /v1/projects/{project}/locations/{location}/studies/{study}\n"
     "POST /v1/projects/{project}/locations/{location}/studies/{study}/trials\n"
     "POST /v1/projects/{project}/locations/{location}/studies/{study}/trials:suggest\n"
     "DELETE /v1/projects/{project}/locations/{location}/studies/{study}/trials/{trial}\n"
     "POST /v1/projects/{project}/locations/{location}/studies/{study}/trials/{trial}:addMeasurement\n"
     "POST /v1/projects/{project}/locations/{location}/studies/{study}/trials/{trial}:complete\n"
     "POST /v1/projects/{project}/locations/{location}/studies/{study}/trials/{trial}:stop\n"
     "POST "
     "/v1/projects/{project}/locations/{location}/studies/{study}/trials/{trial}:checkEarlyStoppingState\n"},
    {Where::kProject,
     "ml.admin ml.developer ml.viewer ml.serviceAgent owner editor viewer "
     "trainyard.member",
     "GET /v1/projects/{project}/locations/{location}/studies\n"
     "GET /v1/projects/{project}/locations/{location}/studies/{study}\n"
     "GET /v1/projects/{project}/locations/{location}/studies/{study}/trials\n"
     "GET /v1/projects/{project}/locations/{location}/studies/{study}/trials/{trial}\n"
     "POST /v1/projects/{project}/locations/{location}/studies/{study}/trials:listOptimalTrials\n"
     "GET /trainyard/v1/projects/{project}/locations/{location}/studies/{study}/tuning:explain\n"},
    {Where::kProject,
     "aiplatform.admin aiplatform.customCodeServiceAgent aiplatform.user owner editor trainyard.member",
     "POST /aiplatform/{version}/projects/{project}/locations/{location}/customJobs\n"
     "POST /aiplatform/{version}/projects/{project}/locations/{location}/hyperparameterTuningJobs\n"
     "POST /aiplatform/{version}/projects/{project}/locations/{location}/trainingPipelines\n"},
    // Whoever created a job may cancel it, too.
    {Where::kInHandler, "aiplatform.admin aiplatform.customCodeServiceAgent aiplatform.user owner editor",
     "POST /aiplatform/{version}/projects/{project}/locations/{location}/customJobs/{number}:cancel\n"
     "POST "
     "/aiplatform/{version}/projects/{project}/locations/{location}/hyperparameterTuningJobs/"
     "{number}:cancel\n"
     "POST "
     "/aiplatform/{version}/projects/{project}/locations/{location}/trainingPipelines/{number}:cancel\n"},
    {Where::kProject, "aiplatform.admin aiplatform.customCodeServiceAgent aiplatform.user owner editor",
     "DELETE /aiplatform/{version}/projects/{project}/locations/{location}/customJobs/{number}\n"
     "DELETE "
     "/aiplatform/{version}/projects/{project}/locations/{location}/hyperparameterTuningJobs/{number}\n"
     "DELETE /aiplatform/{version}/projects/{project}/locations/{location}/trainingPipelines/{number}\n"},
    {Where::kProject,
     "aiplatform.admin aiplatform.customCodeServiceAgent aiplatform.user aiplatform.viewer owner editor "
     "viewer trainyard.member",
     "GET /aiplatform/{version}/projects/{project}/locations/{location}/customJobs\n"
     "GET /aiplatform/{version}/projects/{project}/locations/{location}/hyperparameterTuningJobs\n"
     "GET /aiplatform/{version}/projects/{project}/locations/{location}/trainingPipelines\n"
     "GET /aiplatform/{version}/projects/{project}/locations/{location}/customJobs/{number}\n"
     "GET /aiplatform/{version}/projects/{project}/locations/{location}/hyperparameterTuningJobs/{number}\n"
     "GET /aiplatform/{version}/projects/{project}/locations/{location}/trainingPipelines/{number}\n"
     "GET /aiplatform/{version}/projects/{project}/locations/{location}/models\n"
     "GET /aiplatform/{version}/projects/{project}/locations/{location}/models/{number}\n"},
    // Programs in replicas use studies, too.
    {Where::kProject,
     "aiplatform.admin aiplatform.customCodeServiceAgent aiplatform.user ml.serviceAgent owner editor "
     "trainyard.member",
     "POST /aiplatform/{version}/projects/{project}/locations/{location}/studies\n"
     "DELETE /aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}\n"
     "POST /aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/trials\n"
     "POST /aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/trials:suggest\n"
     "DELETE /aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/trials/{trial}\n"
     "POST "
     "/aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/trials/"
     "{trial}:addTrialMeasurement\n"
     "POST "
     "/aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/trials/"
     "{trial}:complete\n"
     "POST "
     "/aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/trials/{trial}:stop\n"
     "POST "
     "/aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/trials/"
     "{trial}:checkTrialEarlyStoppingState\n"},
    {Where::kProject,
     "aiplatform.admin aiplatform.customCodeServiceAgent aiplatform.user aiplatform.viewer ml.serviceAgent "
     "owner editor viewer "
     "trainyard.member",
     "GET /aiplatform/{version}/projects/{project}/locations/{location}/studies\n"
     "POST /aiplatform/{version}/projects/{project}/locations/{location}/studies:lookup\n"
     "GET /aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}\n"
     "GET /aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/trials\n"
     "GET /aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/trials/{trial}\n"
     "POST "
     "/aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/"
     "trials:listOptimalTrials\n"
     "GET /aiplatform/{version}/projects/{project}/locations/{location}/operations/{operation}\n"
     "GET "
     "/aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/operations/{operation}\n"
     "GET "
     "/aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/trials/{trial}/"
     "operations/{operation}\n"},
    {Where::kInHandler, "logging.viewer logging.privateLogViewer owner editor viewer trainyard.member",
     "POST /v2/entries:list\n"
     "GET /v2/entries:tail\n"
     "POST /v2/entries:tail\n"},
    // Log lines of one job: principals that may see the job may read them.
    {Where::kInHandler,
     "logging.viewer logging.privateLogViewer ml.admin ml.developer ml.viewer ml.serviceAgent owner editor "
     "viewer trainyard.member ml.jobOwner",
     "GET /trainyard/v1/projects/{project}/jobs/{job}/log:read\n"
     "GET /trainyard/v1/projects/{project}/jobs/{job}/log:search\n"
     "GET /trainyard/v1/projects/{project}/jobs/{job}/log:summarize\n"
     "GET /trainyard/v1/projects/{project}/jobs/{job}/log:download\n"},
    {Where::kProject, "storage.admin aiplatform.customCodeServiceAgent ml.serviceAgent owner editor",
     "POST /storage/v1/b\n"},
    {Where::kProject,
     "storage.admin aiplatform.customCodeServiceAgent ml.serviceAgent owner editor viewer trainyard.member",
     "GET /storage/v1/b\n"},
    {Where::kBucket, "storage.admin aiplatform.customCodeServiceAgent ml.serviceAgent owner editor",
     "DELETE /storage/v1/b/{bucket}\n"},
    {Where::kBucket,
     "storage.admin storage.legacyBucketReader storage.legacyBucketWriter "
     "storage.legacyBucketOwner aiplatform.customCodeServiceAgent ml.serviceAgent trainyard.member",
     "GET /storage/v1/b/{bucket}\n"
     "GET /storage/v1/b/{bucket}/notificationConfigs\n"
     "GET /storage/v1/b/{bucket}/anywhereCaches\n"
     "GET /storage/v1/b/{bucket}/operations\n"},
    {Where::kBucket, "storage.admin storage.legacyBucketOwner ml.serviceAgent",
     "PATCH /storage/v1/b/{bucket}\n"
     "PUT /storage/v1/b/{bucket}\n"
     "GET /storage/v1/b/{bucket}/iam\n"},
    {Where::kBucket, "storage.admin storage.legacyBucketOwner", "PUT /storage/v1/b/{bucket}/iam\n"},
    {Where::kBucket,
     "storage.admin storage.objectAdmin storage.objectViewer "
     "storage.legacyBucketReader storage.legacyBucketWriter "
     "storage.legacyBucketOwner aiplatform.customCodeServiceAgent ml.serviceAgent trainyard.member",
     "GET /storage/v1/b/{bucket}/o\n"
     "GET /storage/v1/b/{bucket}/storageLayout\n"
     "GET /storage/v1/b/{bucket}/folders\n"
     "GET /storage/v1/b/{bucket}/managedFolders\n"
     "GET /trainyard/v1/buckets/{bucket}/folder:summarize\n"},
    {Where::kBucket,
     "storage.admin storage.objectAdmin storage.objectViewer "
     "storage.legacyObjectReader storage.legacyObjectOwner aiplatform.customCodeServiceAgent "
     "ml.serviceAgent trainyard.member",
     "GET /storage/v1/b/{bucket}/o/{object}\n"
     "GET /download/storage/v1/b/{bucket}/o/{object}\n"
     "GET /{bucket}/{object=**}\n"
     "GET /trainyard/v1/buckets/{bucket}/folder:download\n"
     "POST /storage/v1/b/{bucket}/o/{object}/copyTo/b/{to_bucket}/o/{to_object}\n"
     "POST /storage/v1/b/{bucket}/o/{object}/rewriteTo/b/{to_bucket}/o/{to_object}\n"
     "POST /storage/v1/b/{bucket}/o/{object}/moveTo/o/{to_object}\n"},
    {Where::kBucket,
     "storage.admin storage.objectAdmin storage.objectCreator "
     "storage.legacyBucketWriter storage.legacyBucketOwner aiplatform.customCodeServiceAgent "
     "ml.serviceAgent trainyard.member",
     "POST /storage/v1/b/{bucket}/o/{object}/compose\n"
     "POST /upload/storage/v1/b/{bucket}/o\n"
     "PUT /upload/storage/v1/b/{bucket}/o\n"
     "DELETE /upload/storage/v1/b/{bucket}/o\n"
     "POST /resumable/upload/storage/v1/b/{bucket}/o\n"
     "PUT /resumable/upload/storage/v1/b/{bucket}/o\n"
     "DELETE /resumable/upload/storage/v1/b/{bucket}/o\n"},
    {Where::kBucket,
     "storage.admin storage.objectAdmin storage.legacyBucketWriter "
     "storage.legacyBucketOwner aiplatform.customCodeServiceAgent ml.serviceAgent trainyard.member",
     "DELETE /storage/v1/b/{bucket}/o/{object}\n"
     "DELETE /trainyard/v1/buckets/{bucket}/folder\n"},
    {Where::kBucket,
     "storage.admin storage.objectAdmin storage.legacyObjectOwner aiplatform.customCodeServiceAgent "
     "ml.serviceAgent trainyard.member",
     "PATCH /storage/v1/b/{bucket}/o/{object}\n"
     "PUT /storage/v1/b/{bucket}/o/{object}\n"},
    {Where::kBucket,
     "storage.admin storage.objectAdmin storage.legacyObjectOwner ml.serviceAgent trainyard.member",
     "GET /storage/v1/b/{bucket}/o/{object}/iam\n"},
    {Where::kProject, "iam.serviceAccountAdmin owner editor",
     "POST /v1/projects/{project}/serviceAccounts\n"},
    {Where::kProject,
     "iam.serviceAccountAdmin iam.serviceAccountKeyAdmin "
     "iam.serviceAccountTokenCreator iam.serviceAccountUser owner editor viewer",
     "GET /v1/projects/{project}/serviceAccounts\n"},
    {Where::kServiceAccount,
     "iam.serviceAccountAdmin iam.serviceAccountKeyAdmin "
     "iam.serviceAccountTokenCreator iam.serviceAccountUser owner editor viewer",
     "GET /v1/projects/{project}/serviceAccounts/{account}\n"},
    {Where::kServiceAccount, "iam.serviceAccountAdmin owner editor",
     "DELETE /v1/projects/{project}/serviceAccounts/{account}\n"
     "PATCH /v1/projects/{project}/serviceAccounts/{account}\n"
     "PUT /v1/projects/{project}/serviceAccounts/{account}\n"
     "POST /v1/projects/{project}/serviceAccounts/{account}:disable\n"
     "POST /v1/projects/{project}/serviceAccounts/{account}:enable\n"},
    {Where::kServiceAccount, "iam.serviceAccountAdmin owner editor viewer",
     "GET /v1/projects/{project}/serviceAccounts/{account}:getIamPolicy\n"
     "POST /v1/projects/{project}/serviceAccounts/{account}:getIamPolicy\n"},
    {Where::kServiceAccount, "iam.serviceAccountAdmin owner",
     "POST /v1/projects/{project}/serviceAccounts/{account}:setIamPolicy\n"},
    {Where::kServiceAccount, "iam.serviceAccountKeyAdmin owner editor",
     "POST /v1/projects/{project}/serviceAccounts/{account}/keys\n"
     "DELETE /v1/projects/{project}/serviceAccounts/{account}/keys/{key}\n"
     "POST /v1/projects/{project}/serviceAccounts/{account}/keys/{key}:disable\n"
     "POST /v1/projects/{project}/serviceAccounts/{account}/keys/{key}:enable\n"},
    {Where::kServiceAccount, "iam.serviceAccountKeyAdmin owner editor viewer",
     "GET /v1/projects/{project}/serviceAccounts/{account}/keys\n"
     "GET /v1/projects/{project}/serviceAccounts/{account}/keys/{key}\n"},
    {Where::kServiceAccount, "iam.serviceAccountTokenCreator",
     "POST /v1/projects/{project}/serviceAccounts/{account}:generateAccessToken\n"
     "POST /v1/projects/{project}/serviceAccounts/{account}:generateIdToken\n"},
    {Where::kInHandler,
     "ml.admin ml.developer ml.viewer ml.serviceAgent storage.admin "
     "storage.objectAdmin storage.objectCreator storage.objectViewer "
     "iam.serviceAccountAdmin iam.serviceAccountKeyAdmin iam.serviceAccountUser "
     "aiplatform.admin aiplatform.customCodeServiceAgent aiplatform.user aiplatform.viewer "
     "resourcemanager.projectIamAdmin browser logging.viewer logging.privateLogViewer monitoring.viewer "
     "owner "
     "editor viewer trainyard.member",
     "GET /v1/projects\n"},
    {Where::kProject,
     "ml.admin ml.developer ml.viewer ml.serviceAgent storage.admin "
     "storage.objectAdmin storage.objectCreator storage.objectViewer "
     "iam.serviceAccountAdmin iam.serviceAccountKeyAdmin iam.serviceAccountUser "
     "aiplatform.admin aiplatform.customCodeServiceAgent aiplatform.user aiplatform.viewer "
     "resourcemanager.projectIamAdmin browser logging.viewer logging.privateLogViewer monitoring.viewer "
     "owner "
     "editor viewer trainyard.member",
     "GET /v1/projects/{project}\n"},
    {Where::kProject, "resourcemanager.projectIamAdmin browser owner editor viewer",
     "POST /v1/projects/{project}:getIamPolicy\n"},
    {Where::kProject, "resourcemanager.projectIamAdmin owner", "POST /v1/projects/{project}:setIamPolicy\n"},
    {Where::kProject, "owner editor trainyard.member",
     "POST /v1/projects/{project}/services/{service}:enable\n"
     "POST /v1/projects/{project}/services:batchEnable\n"
     "POST /v1beta1/projects/{project}/services/{service}:generateServiceIdentity\n"},
    {Where::kProject, "owner editor viewer trainyard.member",
     "GET /v1/projects/{project}/services\n"
     "GET /v1/projects/{project}/services/{service}\n"},
    {Where::kInHandler, "",
     "POST /trainyard/v1/tokens\n"
     "GET /trainyard/v1/tokens\n"
     "DELETE /trainyard/v1/tokens/{token}\n"},
    {Where::kInHandler,
     "ml.admin ml.developer ml.viewer owner editor viewer trainyard.member "
     "trainyard.operator",
     "GET /trainyard/v1/usage\n"},
    {Where::kInHandler,
     "ml.admin ml.developer ml.viewer ml.serviceAgent owner editor viewer "
     "trainyard.member ml.jobOwner",
     "POST /trainyard/v1/projects/{project}/scalars:query\n"},
    {Where::kInstallation, "trainyard.operator",
     "GET /trainyard/v1/admin/status\n"
     "POST /trainyard/v1/admin/drain\n"
     "POST /trainyard/v1/admin/backup\n"
     "GET /trainyard/v1/admin/backup\n"
     "POST /trainyard/v1/admin/reload\n"},
    {Where::kInstallation, "trainyard.operator monitoring.viewer", "GET /metrics\n"},
};

constexpr ExpectedRole kRoles[] = {
    {"ml.admin",
     "ml.jobs.cancel ml.jobs.create ml.jobs.get ml.jobs.getIamPolicy ml.jobs.list "
     "ml.jobs.setIamPolicy ml.jobs.update ml.locations.get ml.locations.list "
     "ml.operations.cancel ml.operations.get ml.operations.list "
     "ml.projects.getConfig"},
    {"ml.developer",
     "ml.jobs.create ml.jobs.get ml.jobs.list ml.jobs.getIamPolicy ml.locations.get "
     "ml.locations.list ml.operations.get ml.operations.list ml.projects.getConfig"},
    {"ml.viewer",
     "ml.jobs.get ml.jobs.list ml.locations.get ml.locations.list ml.operations.get "
     "ml.operations.list ml.projects.getConfig"},
    {"ml.jobOwner",
     "ml.jobs.cancel ml.jobs.create ml.jobs.get ml.jobs.getIamPolicy ml.jobs.list "
     "ml.jobs.setIamPolicy ml.jobs.update"},
    {"ml.operationOwner", "ml.operations.cancel ml.operations.get ml.operations.list"},
    {"ml.modelUser", ""},
    {"owner",
     "ml.jobs.cancel ml.jobs.create ml.jobs.get ml.jobs.getIamPolicy ml.jobs.list "
     "ml.jobs.setIamPolicy ml.jobs.update ml.locations.get ml.locations.list "
     "ml.operations.cancel ml.operations.get ml.operations.list "
     "ml.projects.getConfig storage.buckets.create storage.buckets.delete "
     "storage.buckets.list logging.logEntries.create logging.logEntries.list "
     "logging.privateLogEntries.list "
     "iam.serviceAccounts.actAs iam.serviceAccounts.create "
     "iam.serviceAccounts.delete iam.serviceAccounts.disable "
     "iam.serviceAccounts.enable iam.serviceAccounts.get "
     "iam.serviceAccounts.getIamPolicy iam.serviceAccounts.list "
     "iam.serviceAccounts.setIamPolicy iam.serviceAccounts.update"},
    {"editor",
     "ml.jobs.cancel ml.jobs.create ml.jobs.get ml.jobs.getIamPolicy ml.jobs.list "
     "ml.jobs.update ml.locations.get ml.locations.list ml.operations.cancel "
     "ml.operations.get ml.operations.list ml.projects.getConfig "
     "storage.buckets.create storage.buckets.delete storage.buckets.list "
     "logging.logEntries.create logging.logEntries.list iam.serviceAccounts.actAs "
     "iam.serviceAccounts.create iam.serviceAccounts.delete "
     "iam.serviceAccounts.disable iam.serviceAccounts.enable iam.serviceAccounts.get "
     "iam.serviceAccounts.getIamPolicy iam.serviceAccounts.list "
     "iam.serviceAccounts.update"},
    {"viewer",
     "ml.jobs.get ml.jobs.getIamPolicy ml.jobs.list ml.locations.get "
     "ml.locations.list ml.operations.get ml.operations.list ml.projects.getConfig "
     "storage.buckets.list logging.logEntries.list iam.serviceAccounts.get "
     "iam.serviceAccounts.getIamPolicy iam.serviceAccounts.list"},
    {"storage.admin",
     "storage.buckets.create storage.buckets.delete storage.buckets.get "
     "storage.buckets.getIamPolicy storage.buckets.list storage.buckets.setIamPolicy "
     "storage.buckets.update storage.objects.create storage.objects.delete "
     "storage.objects.get storage.objects.getIamPolicy storage.objects.list "
     "storage.objects.setIamPolicy storage.objects.update"},
    {"storage.objectAdmin",
     "storage.objects.create storage.objects.delete storage.objects.get "
     "storage.objects.getIamPolicy storage.objects.list storage.objects.setIamPolicy "
     "storage.objects.update"},
    {"storage.objectViewer", "storage.objects.get storage.objects.list"},
    {"storage.objectCreator", "storage.objects.create"},
    {"storage.legacyBucketReader", "storage.buckets.get storage.objects.list"},
    {"storage.legacyBucketWriter",
     "storage.buckets.get storage.objects.list storage.objects.create "
     "storage.objects.delete"},
    {"storage.legacyBucketOwner",
     "storage.buckets.get storage.buckets.update storage.buckets.getIamPolicy "
     "storage.buckets.setIamPolicy storage.objects.list storage.objects.create "
     "storage.objects.delete"},
    {"storage.legacyObjectReader", "storage.objects.get"},
    {"storage.legacyObjectOwner",
     "storage.objects.get storage.objects.update storage.objects.getIamPolicy "
     "storage.objects.setIamPolicy"},
    {"iam.serviceAccountUser", "iam.serviceAccounts.actAs iam.serviceAccounts.get iam.serviceAccounts.list"},
    {"iam.serviceAccountTokenCreator",
     "iam.serviceAccounts.getAccessToken iam.serviceAccounts.getOpenIdToken "
     "iam.serviceAccounts.signBlob iam.serviceAccounts.signJwt "
     "iam.serviceAccounts.get iam.serviceAccounts.list"},
    {"logging.viewer", "logging.logEntries.list"},
    {"logging.privateLogViewer", "logging.logEntries.list logging.privateLogEntries.list"},
    {"logging.logWriter", "logging.logEntries.create"},
};

}  // namespace

std::span<const ExpectedAccess> ExpectedRoutes() { return kRoutes; }
std::span<const ExpectedRole> ExpectedRoles() { return kRoles; }

}  // namespace trainyard::iam::testing
