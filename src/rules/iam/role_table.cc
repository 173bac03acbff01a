#include "rules/iam/role_table.h"

#include <array>

namespace trainyard::iam {
namespace {

using Name = std::string_view;

// Google's roles with the permissions that this server checks: others (models, ACLs, caches) would have no
// effect here. Sources: spec access.md section 9; the public pages "AI Platform roles and permissions", "IAM
// roles for Cloud Storage", "Roles for service accounts", "Cloud Logging roles and permissions".
constexpr std::array kPermissionTable{
    Name("iam.serviceAccountKeys.create"),
    Name("iam.serviceAccountKeys.delete"),
    Name("iam.serviceAccountKeys.disable"),
    Name("iam.serviceAccountKeys.enable"),
    Name("iam.serviceAccountKeys.get"),
    Name("iam.serviceAccountKeys.list"),
    Name("iam.serviceAccounts.actAs"),
    Name("iam.serviceAccounts.create"),
    Name("iam.serviceAccounts.delete"),
    Name("iam.serviceAccounts.disable"),
    Name("iam.serviceAccounts.enable"),
    Name("iam.serviceAccounts.get"),
    Name("iam.serviceAccounts.getAccessToken"),
    Name("iam.serviceAccounts.getIamPolicy"),
    Name("iam.serviceAccounts.getOpenIdToken"),
    Name("iam.serviceAccounts.list"),
    Name("iam.serviceAccounts.setIamPolicy"),
    Name("iam.serviceAccounts.signBlob"),
    Name("iam.serviceAccounts.signJwt"),
    Name("iam.serviceAccounts.update"),
    Name("logging.logEntries.create"),
    Name("logging.logEntries.list"),
    Name("logging.privateLogEntries.list"),
    Name("ml.jobs.cancel"),
    Name("ml.jobs.create"),
    Name("ml.jobs.get"),
    Name("ml.jobs.getIamPolicy"),
    Name("ml.jobs.list"),
    Name("ml.jobs.setIamPolicy"),
    Name("ml.jobs.update"),
    Name("ml.locations.get"),
    Name("ml.locations.list"),
    Name("ml.operations.cancel"),
    Name("ml.operations.get"),
    Name("ml.operations.list"),
    Name("ml.projects.getConfig"),
    Name("ml.studies.create"),
    Name("ml.studies.delete"),
    Name("ml.studies.get"),
    Name("ml.studies.list"),
    Name("ml.trials.create"),
    Name("ml.trials.delete"),
    Name("ml.trials.get"),
    Name("ml.trials.list"),
    Name("ml.trials.update"),
    Name("resourcemanager.projects.get"),
    Name("resourcemanager.projects.getIamPolicy"),
    Name("resourcemanager.projects.setIamPolicy"),
    Name("serviceusage.services.enable"),
    Name("serviceusage.services.get"),
    Name("serviceusage.services.list"),
    Name("storage.buckets.create"),
    Name("storage.buckets.delete"),
    Name("storage.buckets.get"),
    Name("storage.buckets.getIamPolicy"),
    Name("storage.buckets.list"),
    Name("storage.buckets.setIamPolicy"),
    Name("storage.buckets.update"),
    Name("storage.objects.create"),
    Name("storage.objects.delete"),
    Name("storage.objects.get"),
    Name("storage.objects.getIamPolicy"),
    Name("storage.objects.list"),
    Name("storage.objects.setIamPolicy"),
    Name("storage.objects.update"),
    Name("trainyard.images.useCredentials"),
    Name("trainyard.images.useLocal"),
    Name("trainyard.jobs.delete"),
    Name("trainyard.jobs.maintain"),
    Name("trainyard.jobs.shell"),
    Name("trainyard.server.backup"),
    Name("trainyard.server.drain"),
    Name("trainyard.server.get"),
    Name("trainyard.server.getMetrics"),
    Name("trainyard.server.reload"),
    Name("trainyard.tokens.create"),
    Name("trainyard.tokens.list"),
    Name("trainyard.tokens.revoke"),
    Name("trainyard.usage.get"),
};

constexpr std::array kMlViewer{
    Name("ml.jobs.get"),
    Name("ml.jobs.list"),
    Name("ml.locations.*"),
    Name("ml.operations.get"),
    Name("ml.operations.list"),
    Name("ml.projects.getConfig"),
    Name("ml.studies.get"),
    Name("ml.studies.list"),
    Name("ml.trials.get"),
    Name("ml.trials.list"),
    Name("resourcemanager.projects.get"),
    Name("trainyard.usage.get"),
};
// Like Google's, it cannot cancel or update jobs: a job's creator has jobOwner on it.
constexpr std::array kMlDeveloper{
    Name("ml.jobs.create"),
    Name("ml.jobs.get"),
    Name("ml.jobs.getIamPolicy"),
    Name("ml.jobs.list"),
    Name("ml.locations.*"),
    Name("ml.operations.get"),
    Name("ml.operations.list"),
    Name("ml.projects.getConfig"),
    Name("ml.studies.*"),
    Name("ml.trials.*"),
    Name("resourcemanager.projects.get"),
    Name("trainyard.images.useCredentials"),
    Name("trainyard.usage.get"),
};
constexpr std::array kMlAdmin{
    Name("ml.*"),
    Name("resourcemanager.projects.get"),
    Name("trainyard.images.*"),
    Name("trainyard.jobs.*"),
    Name("trainyard.usage.get"),
};
// Not trainyard.jobs.delete: a job's creator may not remove its record.
constexpr std::array kMlJobOwner{Name("ml.jobs.*"), Name("trainyard.jobs.maintain"),
                                 Name("trainyard.jobs.shell")};
constexpr std::array kMlOperationOwner{Name("ml.operations.*")};
constexpr std::array<Name, 0> kNothing{};
// Google's role could also administer policies of buckets and make tokens of all service accounts of the
// project. Every job has this role, so everyone who may submit a job would have both permissions.
constexpr std::array kMlServiceAgent{
    Name("logging.logEntries.create"),
    Name("ml.jobs.get"),
    Name("ml.jobs.list"),
    Name("ml.locations.*"),
    Name("ml.operations.get"),
    Name("ml.operations.list"),
    Name("ml.projects.getConfig"),
    Name("ml.studies.*"),
    Name("ml.trials.*"),
    Name("resourcemanager.projects.get"),
    Name("storage.buckets.*"),
    Name("storage.objects.*"),
};
constexpr std::array kMlServiceAgentLess{
    Name("storage.buckets.setIamPolicy"),
    Name("storage.objects.setIamPolicy"),
};

// The basic roles have no permissions on objects: a bucket's policy grants them to projectOwner:P,
// projectEditor:P and projectViewer:P.
constexpr std::array kOwner{
    Name("iam.*"),
    Name("logging.*"),
    Name("ml.*"),
    Name("resourcemanager.*"),
    Name("serviceusage.*"),
    Name("storage.buckets.create"),
    Name("storage.buckets.delete"),
    Name("storage.buckets.list"),
    Name("trainyard.images.*"),
    Name("trainyard.jobs.*"),
    Name("trainyard.usage.get"),
};
// A principal that may use an account's key or run jobs as the account needs no tokens of the account.
// Source: spec access.md section 9.
constexpr std::array kOwnerLess{
    Name("iam.serviceAccounts.getAccessToken"),
    Name("iam.serviceAccounts.getOpenIdToken"),
    Name("iam.serviceAccounts.signBlob"),
    Name("iam.serviceAccounts.signJwt"),
};
constexpr std::array kEditorLess{
    Name("iam.serviceAccounts.getAccessToken"),
    Name("iam.serviceAccounts.getOpenIdToken"),
    Name("iam.serviceAccounts.setIamPolicy"),
    Name("iam.serviceAccounts.signBlob"),
    Name("iam.serviceAccounts.signJwt"),
    Name("logging.privateLogEntries.list"),
    Name("ml.jobs.setIamPolicy"),
    Name("resourcemanager.projects.setIamPolicy"),
    Name("trainyard.images.useLocal"),
    Name("trainyard.jobs.delete"),
};
constexpr std::array kViewer{
    Name("iam.serviceAccountKeys.get"),
    Name("iam.serviceAccountKeys.list"),
    Name("iam.serviceAccounts.get"),
    Name("iam.serviceAccounts.getIamPolicy"),
    Name("iam.serviceAccounts.list"),
    Name("logging.logEntries.list"),
    Name("ml.jobs.get"),
    Name("ml.jobs.getIamPolicy"),
    Name("ml.jobs.list"),
    Name("ml.locations.*"),
    Name("ml.operations.get"),
    Name("ml.operations.list"),
    Name("ml.projects.getConfig"),
    Name("ml.studies.get"),
    Name("ml.studies.list"),
    Name("ml.trials.get"),
    Name("ml.trials.list"),
    Name("resourcemanager.projects.get"),
    Name("resourcemanager.projects.getIamPolicy"),
    Name("serviceusage.services.get"),
    Name("serviceusage.services.list"),
    Name("storage.buckets.list"),
    Name("trainyard.usage.get"),
};
constexpr std::array kBrowser{
    Name("resourcemanager.projects.get"),
    Name("resourcemanager.projects.getIamPolicy"),
};

constexpr std::array kServiceAccountAdmin{
    Name("iam.serviceAccounts.create"),  Name("iam.serviceAccounts.delete"),
    Name("iam.serviceAccounts.disable"), Name("iam.serviceAccounts.enable"),
    Name("iam.serviceAccounts.get"),     Name("iam.serviceAccounts.getIamPolicy"),
    Name("iam.serviceAccounts.list"),    Name("iam.serviceAccounts.setIamPolicy"),
    Name("iam.serviceAccounts.update"),  Name("resourcemanager.projects.get"),
};
constexpr std::array kServiceAccountKeyAdmin{
    Name("iam.serviceAccountKeys.*"),
    Name("iam.serviceAccounts.get"),
    Name("iam.serviceAccounts.list"),
    Name("resourcemanager.projects.get"),
};
constexpr std::array kServiceAccountTokenCreator{
    Name("iam.serviceAccounts.get"),
    Name("iam.serviceAccounts.getAccessToken"),
    Name("iam.serviceAccounts.getOpenIdToken"),
    Name("iam.serviceAccounts.list"),
    Name("iam.serviceAccounts.signBlob"),
    Name("iam.serviceAccounts.signJwt"),
};
constexpr std::array kServiceAccountUser{
    Name("iam.serviceAccounts.actAs"),
    Name("iam.serviceAccounts.get"),
    Name("iam.serviceAccounts.list"),
    Name("resourcemanager.projects.get"),
};
constexpr std::array kProjectIamAdmin{
    Name("resourcemanager.projects.get"),
    Name("resourcemanager.projects.getIamPolicy"),
    Name("resourcemanager.projects.setIamPolicy"),
};
constexpr std::array kLogWriter{Name("logging.logEntries.create")};
constexpr std::array kLogViewer{Name("logging.logEntries.list"), Name("resourcemanager.projects.get")};
// Can also read the audit log.
constexpr std::array kPrivateLogViewer{
    Name("logging.logEntries.list"),
    Name("logging.privateLogEntries.list"),
    Name("resourcemanager.projects.get"),
};
// For the installation: the permissions of a program that collects /metrics.
constexpr std::array kMonitoringViewer{
    Name("resourcemanager.projects.get"),
    Name("trainyard.server.getMetrics"),
};

constexpr std::array kStorageAdmin{
    Name("resourcemanager.projects.get"),
    Name("storage.buckets.*"),
    Name("storage.objects.*"),
};
constexpr std::array kObjectAdmin{Name("resourcemanager.projects.get"), Name("storage.objects.*")};
constexpr std::array kObjectCreator{Name("resourcemanager.projects.get"), Name("storage.objects.create")};
constexpr std::array kObjectViewer{
    Name("resourcemanager.projects.get"),
    Name("storage.objects.get"),
    Name("storage.objects.list"),
};
constexpr std::array kLegacyBucketReader{Name("storage.buckets.get"), Name("storage.objects.list")};
constexpr std::array kLegacyBucketWriter{
    Name("storage.buckets.get"),
    Name("storage.objects.create"),
    Name("storage.objects.delete"),
    Name("storage.objects.list"),
};
constexpr std::array kLegacyBucketOwner{
    Name("storage.buckets.get"),          Name("storage.buckets.getIamPolicy"),
    Name("storage.buckets.setIamPolicy"), Name("storage.buckets.update"),
    Name("storage.objects.create"),       Name("storage.objects.delete"),
    Name("storage.objects.list"),
};
constexpr std::array kLegacyObjectReader{Name("storage.objects.get")};
constexpr std::array kLegacyObjectOwner{
    Name("storage.objects.get"),
    Name("storage.objects.getIamPolicy"),
    Name("storage.objects.setIamPolicy"),
    Name("storage.objects.update"),
};

constexpr std::array kInstallationAdmin{Name("*")};
constexpr std::array kInstallationOperator{
    Name("trainyard.server.*"),
    Name("trainyard.usage.get"),
};
// The permissions that gcloud needs when a user submits a job with packages and reads its results. "services
// enable", the first step of tutorials, has no effect on this server.
constexpr std::array kMember{
    Name("logging.logEntries.list"),
    Name("ml.jobs.create"),
    Name("ml.jobs.get"),
    Name("ml.jobs.getIamPolicy"),
    Name("ml.jobs.list"),
    Name("ml.locations.*"),
    Name("ml.operations.get"),
    Name("ml.operations.list"),
    Name("ml.projects.getConfig"),
    Name("ml.studies.*"),
    Name("ml.trials.*"),
    Name("resourcemanager.projects.get"),
    Name("serviceusage.*"),
    Name("storage.buckets.get"),
    Name("storage.buckets.list"),
    Name("storage.objects.*"),
    Name("trainyard.images.useCredentials"),
    Name("trainyard.usage.get"),
};

constexpr std::array kRoleTable{
    RoleRow{"roles/browser", "Browser", "Sees that a project is there, and its policy.", kBrowser},
    RoleRow{"roles/editor", "Editor", "View, create, update, and delete most resources of a project.", kOwner,
            kEditorLess},
    RoleRow{"roles/iam.serviceAccountAdmin", "Service Account Admin", "Create and manage service accounts.",
            kServiceAccountAdmin},
    RoleRow{"roles/iam.serviceAccountKeyAdmin", "Service Account Key Admin",
            "Create and manage (and rotate) service account keys.", kServiceAccountKeyAdmin},
    RoleRow{"roles/iam.serviceAccountTokenCreator", "Service Account Token Creator",
            "Impersonate service accounts: create access tokens and ID tokens for them.",
            kServiceAccountTokenCreator},
    RoleRow{"roles/iam.serviceAccountUser", "Service Account User",
            "Run operations as the service account: give it to a job.", kServiceAccountUser},
    RoleRow{"roles/logging.logWriter", "Logs Writer", "Write log entries.", kLogWriter},
    RoleRow{"roles/logging.privateLogViewer", "Private Logs Viewer", "View logs, audit logs too.",
            kPrivateLogViewer},
    RoleRow{"roles/logging.viewer", "Logs Viewer", "View logs.", kLogViewer},
    RoleRow{"roles/ml.admin", "AI Platform Admin",
            "Full access to AI Platform resources, and its jobs, operations and studies.", kMlAdmin},
    RoleRow{"roles/ml.developer", "AI Platform Developer",
            "Create training jobs and studies, see those of the project, cancel one's own.", kMlDeveloper},
    RoleRow{"roles/ml.jobOwner", "AI Platform Job Owner",
            "Full access to a particular job. Who creates a job has it, without a binding.", kMlJobOwner},
    RoleRow{"roles/ml.modelUser", "AI Platform Model User",
            "Read models and use them for prediction: nothing here.", kNothing},
    RoleRow{"roles/ml.operationOwner", "AI Platform Operation Owner", "Full access to operations.",
            kMlOperationOwner},
    RoleRow{"roles/ml.serviceAgent", "AI Platform Service Agent",
            "What the jobs of a project do: its objects and buckets, its studies, logs.", kMlServiceAgent,
            kMlServiceAgentLess},
    RoleRow{"roles/ml.viewer", "AI Platform Viewer", "Read-only access to AI Platform resources.", kMlViewer},
    RoleRow{"roles/monitoring.viewer", "Monitoring Viewer", "On the installation: read the server's metrics.",
            kMonitoringViewer},
    RoleRow{"roles/owner", "Owner", "Full access to most resources of a project, and to who may use them.",
            kOwner, kOwnerLess},
    RoleRow{"roles/resourcemanager.projectIamAdmin", "Project IAM Admin",
            "Administer the policies of projects: give any role on them, owner too.", kProjectIamAdmin},
    RoleRow{"roles/storage.admin", "Storage Admin", "Full control of buckets and objects.", kStorageAdmin},
    RoleRow{"roles/storage.legacyBucketOwner", "Storage Legacy Bucket Owner",
            "Read and write access to existing buckets with object listing, creation and deletion.",
            kLegacyBucketOwner},
    RoleRow{"roles/storage.legacyBucketReader", "Storage Legacy Bucket Reader",
            "Read access to buckets with object listing.", kLegacyBucketReader},
    RoleRow{"roles/storage.legacyBucketWriter", "Storage Legacy Bucket Writer",
            "Read access to buckets with object listing, creation and deletion.", kLegacyBucketWriter},
    RoleRow{"roles/storage.legacyObjectOwner", "Storage Legacy Object Owner",
            "Read and write access to existing objects without listing.", kLegacyObjectOwner},
    RoleRow{"roles/storage.legacyObjectReader", "Storage Legacy Object Reader",
            "Read access to objects without listing.", kLegacyObjectReader},
    RoleRow{"roles/storage.objectAdmin", "Storage Object Admin", "Full control of objects.", kObjectAdmin},
    RoleRow{"roles/storage.objectCreator", "Storage Object Creator",
            "Create objects; not see, replace or delete them.", kObjectCreator},
    RoleRow{"roles/storage.objectViewer", "Storage Object Viewer", "List and read objects.", kObjectViewer},
    RoleRow{"roles/trainyard.admin", "Trainyard Administrator",
            "Every permission there is. On the installation: may do everything to everybody's things.",
            kInstallationAdmin},
    RoleRow{"roles/trainyard.member", "Trainyard Member",
            "What a colleague needs who submits jobs with packages and reads their logs and results.",
            kMember},
    RoleRow{"roles/trainyard.operator", "Trainyard Operator",
            "On the installation: its state, metrics, drain, backup and reload; nobody's data.",
            kInstallationOperator},
    RoleRow{"roles/viewer", "Viewer", "View most resources of a project.", kViewer},
};

}  // namespace

std::span<const RoleRow> RoleTable() { return kRoleTable; }
std::span<const std::string_view> PermissionTable() { return kPermissionTable; }

}  // namespace trainyard::iam
