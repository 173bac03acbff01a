#include "rules/iam/role_table.h"

#include <array>
#include <sstream>

namespace trainyard::iam {
namespace {

// Google's roles with the permissions that this server checks: others (models, ACLs, caches) would have no
// effect here. Sources: spec access.md section 9; the public pages "AI Platform roles and permissions", "IAM
// roles for Cloud Storage", "Roles for service accounts", "Cloud Logging roles and permissions".
constexpr std::string_view kPermissionTable = R"(
aiplatform.customJobs: cancel create delete get list
aiplatform.hyperparameterTuningJobs: cancel create delete get list
aiplatform.models: get list
aiplatform.operations: get
aiplatform.studies: create delete get list
aiplatform.trainingPipelines: cancel create delete get list
aiplatform.trials: create delete get list update
iam.serviceAccountKeys: create delete disable enable get list
iam.serviceAccounts: actAs create delete disable enable get getAccessToken getIamPolicy getOpenIdToken list setIamPolicy signBlob signJwt update
logging.logEntries: create list
logging.privateLogEntries: list
ml.jobs: cancel create get getIamPolicy list setIamPolicy update
ml.locations: get list
ml.operations: cancel get list
ml.projects: getConfig
ml.studies: create delete get list
ml.trials: create delete get list update
resourcemanager.projects: get getIamPolicy setIamPolicy
serviceusage.services: enable get list
storage.buckets: create delete get getIamPolicy list setIamPolicy update
storage.objects: create delete get getIamPolicy list setIamPolicy update
trainyard.images: useCredentials useLocal
trainyard.jobs: delete maintain shell
trainyard.server: backup drain get getMetrics reload
trainyard.tokens: create list revoke
trainyard.usage: get)";

// The basic roles have no permissions on objects: a bucket's policy grants them to projectOwner:P,
// projectEditor:P and projectViewer:P.
constexpr std::string_view kOwner = R"(aiplatform: *
iam: *
logging: *
ml: *
resourcemanager: *
serviceusage: *
storage.buckets: create delete list
trainyard.images: *
trainyard.jobs: *
trainyard.usage: get)";

constexpr std::array kRoleTable{
    RoleRow{"roles/aiplatform.admin", "Vertex AI Administrator",
            "Full access to Vertex AI's jobs and studies.",
            R"(aiplatform: *
               resourcemanager.projects: get
               trainyard.images: *)"},
    // Google's role could also make tokens of all service accounts of the project. Whoever may submit a job
    // that runs as an account with this role would have that permission, too (as in ml.serviceAgent).
    RoleRow{"roles/aiplatform.customCodeServiceAgent", "Vertex AI Custom Code Service Agent",
            "What the programs of Vertex AI's jobs do: their jobs and studies, objects and buckets, logs.",
            R"(aiplatform: *
               logging.logEntries: create
               resourcemanager.projects: get
               storage.buckets: create delete get list
               storage.objects: create delete get list update)"},
    RoleRow{"roles/aiplatform.user", "Vertex AI User",
            "Create jobs and studies of Vertex AI; see, cancel and delete those of the project.",
            R"(aiplatform: *
               resourcemanager.projects: get
               trainyard.images: useCredentials)"},
    RoleRow{"roles/aiplatform.viewer", "Vertex AI Viewer",
            "Read-only access to Vertex AI's jobs and studies.",
            R"(aiplatform.customJobs: get list
               aiplatform.hyperparameterTuningJobs: get list
               aiplatform.models: get list
               aiplatform.operations: get
               aiplatform.studies: get list
               aiplatform.trainingPipelines: get list
               aiplatform.trials: get list
               resourcemanager.projects: get)"},
    RoleRow{"roles/browser", "Browser", "Sees that a project is there, and its policy.",
            "resourcemanager.projects: get getIamPolicy"},
    RoleRow{"roles/editor", "Editor", "View, create, update, and delete most resources of a project.", kOwner,
            R"(iam.serviceAccounts: getAccessToken getOpenIdToken setIamPolicy signBlob signJwt
               logging.privateLogEntries: list
               ml.jobs: setIamPolicy
               resourcemanager.projects: setIamPolicy
               trainyard.images: useLocal
               trainyard.jobs: delete)"},
    RoleRow{"roles/iam.serviceAccountAdmin", "Service Account Admin", "Create and manage service accounts.",
            R"(iam.serviceAccounts: create delete disable enable get getIamPolicy list setIamPolicy update
               resourcemanager.projects: get)"},
    RoleRow{"roles/iam.serviceAccountKeyAdmin", "Service Account Key Admin",
            "Create and manage (and rotate) service account keys.",
            R"(iam.serviceAccountKeys: *
               iam.serviceAccounts: get list
               resourcemanager.projects: get)"},
    RoleRow{"roles/iam.serviceAccountTokenCreator", "Service Account Token Creator",
            "Impersonate service accounts: create access tokens and ID tokens for them.",
            "iam.serviceAccounts: get getAccessToken getOpenIdToken list signBlob signJwt"},
    RoleRow{"roles/iam.serviceAccountUser", "Service Account User",
            "Run operations as the service account: give it to a job.",
            R"(iam.serviceAccounts: actAs get list
               resourcemanager.projects: get)"},
    RoleRow{"roles/logging.logWriter", "Logs Writer", "Write log entries.", "logging.logEntries: create"},
    // Can also read the audit log.
    RoleRow{"roles/logging.privateLogViewer", "Private Logs Viewer", "View logs, audit logs too.",
            R"(logging.logEntries: list
               logging.privateLogEntries: list
               resourcemanager.projects: get)"},
    RoleRow{"roles/logging.viewer", "Logs Viewer", "View logs.",
            R"(logging.logEntries: list
               resourcemanager.projects: get)"},
    RoleRow{"roles/ml.admin", "AI Platform Admin",
            "Full access to AI Platform resources, and its jobs, operations and studies.",
            R"(ml: *
               resourcemanager.projects: get
               trainyard.images: *
               trainyard.jobs: *
               trainyard.usage: get)"},
    // Like Google's, it cannot cancel or update jobs: a job's creator has jobOwner on it.
    RoleRow{"roles/ml.developer", "AI Platform Developer",
            "Create training jobs and studies, see those of the project, cancel one's own.",
            R"(ml.jobs: create get getIamPolicy list
               ml.locations: *
               ml.operations: get list
               ml.projects: getConfig
               ml.studies: *
               ml.trials: *
               resourcemanager.projects: get
               trainyard.images: useCredentials
               trainyard.usage: get)"},
    // Not trainyard.jobs.delete: a job's creator may not remove its record.
    RoleRow{"roles/ml.jobOwner", "AI Platform Job Owner",
            "Full access to a particular job. Who creates a job has it, without a binding.",
            R"(ml.jobs: *
               trainyard.jobs: maintain shell)"},
    RoleRow{"roles/ml.modelUser", "AI Platform Model User",
            "Read models and use them for prediction: nothing here.", ""},
    RoleRow{"roles/ml.operationOwner", "AI Platform Operation Owner", "Full access to operations.",
            "ml.operations: *"},
    // Google's role could also administer policies of buckets and make tokens of all service accounts of the
    // project. Every job has this role, so everyone who may submit a job would have both permissions.
    RoleRow{"roles/ml.serviceAgent", "AI Platform Service Agent",
            "What the jobs of a project do: its objects and buckets, its studies, logs.",
            R"(aiplatform.operations: get
               aiplatform.studies: *
               aiplatform.trials: *
               logging.logEntries: create
               ml.jobs: get list
               ml.locations: *
               ml.operations: get list
               ml.projects: getConfig
               ml.studies: *
               ml.trials: *
               resourcemanager.projects: get
               storage.buckets: *
               storage.objects: *)",
            R"(storage.buckets: setIamPolicy
               storage.objects: setIamPolicy)"},
    RoleRow{"roles/ml.viewer", "AI Platform Viewer", "Read-only access to AI Platform resources.",
            R"(ml.jobs: get list
               ml.locations: *
               ml.operations: get list
               ml.projects: getConfig
               ml.studies: get list
               ml.trials: get list
               resourcemanager.projects: get
               trainyard.usage: get)"},
    // For the installation: the permissions of a program that collects /metrics.
    RoleRow{"roles/monitoring.viewer", "Monitoring Viewer", "On the installation: read the server's metrics.",
            R"(resourcemanager.projects: get
               trainyard.server: getMetrics)"},
    // A principal that may use an account's key or run jobs as the account needs no tokens of the account.
    // Source: spec access.md section 9.
    RoleRow{"roles/owner", "Owner", "Full access to most resources of a project, and to who may use them.",
            kOwner, "iam.serviceAccounts: getAccessToken getOpenIdToken signBlob signJwt"},
    RoleRow{"roles/resourcemanager.projectIamAdmin", "Project IAM Admin",
            "Administer the policies of projects: give any role on them, owner too.",
            "resourcemanager.projects: get getIamPolicy setIamPolicy"},
    RoleRow{"roles/storage.admin", "Storage Admin", "Full control of buckets and objects.",
            R"(resourcemanager.projects: get
               storage.buckets: *
               storage.objects: *)"},
    RoleRow{"roles/storage.legacyBucketOwner", "Storage Legacy Bucket Owner",
            "Read and write access to existing buckets with object listing, creation and deletion.",
            R"(storage.buckets: get getIamPolicy setIamPolicy update
               storage.objects: create delete list)"},
    RoleRow{"roles/storage.legacyBucketReader", "Storage Legacy Bucket Reader",
            "Read access to buckets with object listing.",
            R"(storage.buckets: get
               storage.objects: list)"},
    RoleRow{"roles/storage.legacyBucketWriter", "Storage Legacy Bucket Writer",
            "Read access to buckets with object listing, creation and deletion.",
            R"(storage.buckets: get
               storage.objects: create delete list)"},
    RoleRow{"roles/storage.legacyObjectOwner", "Storage Legacy Object Owner",
            "Read and write access to existing objects without listing.",
            "storage.objects: get getIamPolicy setIamPolicy update"},
    RoleRow{"roles/storage.legacyObjectReader", "Storage Legacy Object Reader",
            "Read access to objects without listing.", "storage.objects: get"},
    RoleRow{"roles/storage.objectAdmin", "Storage Object Admin", "Full control of objects.",
            R"(resourcemanager.projects: get
               storage.objects: *)"},
    RoleRow{"roles/storage.objectCreator", "Storage Object Creator",
            "Create objects; not see, replace or delete them.",
            R"(resourcemanager.projects: get
               storage.objects: create)"},
    RoleRow{"roles/storage.objectViewer", "Storage Object Viewer", "List and read objects.",
            R"(resourcemanager.projects: get
               storage.objects: get list)"},
    RoleRow{"roles/trainyard.admin", "Trainyard Administrator",
            "Every permission there is. On the installation: may do everything to everybody's things.", "*"},
    // The permissions that gcloud needs when a user submits a job with packages and reads its results.
    // "services enable", the first step of tutorials, has no effect on this server.
    RoleRow{"roles/trainyard.member", "Trainyard Member",
            "What a colleague needs who submits jobs with packages and reads their logs and results.",
            R"(aiplatform.customJobs: create get list
               aiplatform.hyperparameterTuningJobs: create get list
               aiplatform.models: get list
               aiplatform.operations: get
               aiplatform.studies: *
               aiplatform.trainingPipelines: create get list
               aiplatform.trials: *
               logging.logEntries: list
               ml.jobs: create get getIamPolicy list
               ml.locations: *
               ml.operations: get list
               ml.projects: getConfig
               ml.studies: *
               ml.trials: *
               resourcemanager.projects: get
               serviceusage: *
               storage.buckets: get list
               storage.objects: *
               trainyard.images: useCredentials
               trainyard.usage: get)"},
    RoleRow{"roles/trainyard.operator", "Trainyard Operator",
            "On the installation: its state, metrics, drain, backup and reload; nobody's data.",
            R"(trainyard.server: *
               trainyard.usage: get)"},
    RoleRow{"roles/viewer", "Viewer", "View most resources of a project.",
            R"(aiplatform.customJobs: get list
               aiplatform.hyperparameterTuningJobs: get list
               aiplatform.models: get list
               aiplatform.operations: get
               aiplatform.studies: get list
               aiplatform.trainingPipelines: get list
               aiplatform.trials: get list
               iam.serviceAccountKeys: get list
               iam.serviceAccounts: get getIamPolicy list
               logging.logEntries: list
               ml.jobs: get getIamPolicy list
               ml.locations: *
               ml.operations: get list
               ml.projects: getConfig
               ml.studies: get list
               ml.trials: get list
               resourcemanager.projects: get getIamPolicy
               serviceusage.services: get list
               storage.buckets: list
               trainyard.usage: get)"},
};

}  // namespace

std::vector<std::string> ReadPermissions(std::string_view list) {
  std::vector<std::string> permissions;
  std::istringstream words{std::string(list)};
  std::string resource;
  for (std::string word; words >> word;) {
    if (word.ends_with(':')) {
      resource = word.substr(0, word.size() - 1) + ".";
    } else {
      permissions.push_back(resource + word);
    }
  }
  return permissions;
}

std::span<const RoleRow> RoleTable() { return kRoleTable; }

std::span<const std::string_view> PermissionTable() {
  static const std::vector<std::string> kPermissions = ReadPermissions(kPermissionTable);
  static const std::vector<std::string_view> kViews(kPermissions.begin(), kPermissions.end());
  return kViews;
}

}  // namespace trainyard::iam
