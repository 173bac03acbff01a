#include <array>

#include "rules/iam/method_rows.h"

namespace trainyard::iam {
namespace {

// Source: iam v1, "IAM permissions for service accounts"; resourcemanager v1; serviceusage v1.
constexpr std::array kRows{
    Ask(Scope::kProject, "POST /v1/projects/{project}/serviceAccounts", "iam.serviceAccounts.create",
        "google.iam.admin.v1.CreateServiceAccount", AuditKind::kAdminActivity),
    Ask(Scope::kProject, "GET /v1/projects/{project}/serviceAccounts", "iam.serviceAccounts.list",
        "google.iam.admin.v1.ListServiceAccounts", AuditKind::kDataRead),
    Ask(Scope::kServiceAccount, "GET /v1/projects/{project}/serviceAccounts/{account}",
        "iam.serviceAccounts.get", "google.iam.admin.v1.GetServiceAccount", AuditKind::kDataRead),
    Ask(Scope::kServiceAccount, "DELETE /v1/projects/{project}/serviceAccounts/{account}",
        "iam.serviceAccounts.delete", "google.iam.admin.v1.DeleteServiceAccount", AuditKind::kAdminActivity),
    Ask(Scope::kServiceAccount, "PATCH /v1/projects/{project}/serviceAccounts/{account}",
        "iam.serviceAccounts.update", "google.iam.admin.v1.PatchServiceAccount", AuditKind::kAdminActivity),
    Ask(Scope::kServiceAccount, "PUT /v1/projects/{project}/serviceAccounts/{account}",
        "iam.serviceAccounts.update", "google.iam.admin.v1.UpdateServiceAccount", AuditKind::kAdminActivity),
    Ask(Scope::kServiceAccount, "POST /v1/projects/{project}/serviceAccounts/{account}:disable",
        "iam.serviceAccounts.disable", "google.iam.admin.v1.DisableServiceAccount",
        AuditKind::kAdminActivity),
    Ask(Scope::kServiceAccount, "POST /v1/projects/{project}/serviceAccounts/{account}:enable",
        "iam.serviceAccounts.enable", "google.iam.admin.v1.EnableServiceAccount", AuditKind::kAdminActivity),
    Ask(Scope::kServiceAccount, "GET /v1/projects/{project}/serviceAccounts/{account}:getIamPolicy",
        "iam.serviceAccounts.getIamPolicy", "google.iam.admin.v1.GetIAMPolicy", AuditKind::kDataRead),
    Ask(Scope::kServiceAccount, "POST /v1/projects/{project}/serviceAccounts/{account}:getIamPolicy",
        "iam.serviceAccounts.getIamPolicy", "google.iam.admin.v1.GetIAMPolicy", AuditKind::kDataRead),
    Ask(Scope::kServiceAccount, "POST /v1/projects/{project}/serviceAccounts/{account}:setIamPolicy",
        "iam.serviceAccounts.setIamPolicy", "google.iam.admin.v1.SetIAMPolicy", AuditKind::kAdminActivity),
    // The answers of testIamPermissions are what the caller may.
    LoggedIn("POST /v1/projects/{project}/serviceAccounts/{account}:testIamPermissions",
             "google.iam.admin.v1.TestIAMPermissions"),
    Ask(Scope::kServiceAccount, "POST /v1/projects/{project}/serviceAccounts/{account}/keys",
        "iam.serviceAccountKeys.create", "google.iam.admin.v1.CreateServiceAccountKey",
        AuditKind::kAdminActivity),
    Ask(Scope::kServiceAccount, "GET /v1/projects/{project}/serviceAccounts/{account}/keys",
        "iam.serviceAccountKeys.list", "google.iam.admin.v1.ListServiceAccountKeys", AuditKind::kDataRead),
    Ask(Scope::kServiceAccount, "GET /v1/projects/{project}/serviceAccounts/{account}/keys/{key}",
        "iam.serviceAccountKeys.get", "google.iam.admin.v1.GetServiceAccountKey", AuditKind::kDataRead),
    Ask(Scope::kServiceAccount, "DELETE /v1/projects/{project}/serviceAccounts/{account}/keys/{key}",
        "iam.serviceAccountKeys.delete", "google.iam.admin.v1.DeleteServiceAccountKey",
        AuditKind::kAdminActivity),
    Ask(Scope::kServiceAccount, "POST /v1/projects/{project}/serviceAccounts/{account}/keys/{key}:disable",
        "iam.serviceAccountKeys.disable", "google.iam.admin.v1.DisableServiceAccountKey",
        AuditKind::kAdminActivity),
    Ask(Scope::kServiceAccount, "POST /v1/projects/{project}/serviceAccounts/{account}/keys/{key}:enable",
        "iam.serviceAccountKeys.enable", "google.iam.admin.v1.EnableServiceAccountKey",
        AuditKind::kAdminActivity),
    // What roles there are is no secret.
    LoggedIn("GET /v1/roles", "google.iam.admin.v1.ListRoles"),
    LoggedIn("GET /v1/roles/{role}", "google.iam.admin.v1.GetRole"),
    LoggedIn("POST /v1/permissions:queryTestablePermissions", "google.iam.admin.v1.QueryTestablePermissions"),
    // Who may make tokens of an account is its other self: always in the audit log.
    Ask(Scope::kServiceAccount, "POST /v1/projects/{project}/serviceAccounts/{account}:generateAccessToken",
        "iam.serviceAccounts.getAccessToken", "GenerateAccessToken", AuditKind::kAdminActivity),
    Ask(Scope::kServiceAccount, "POST /v1/projects/{project}/serviceAccounts/{account}:generateIdToken",
        "iam.serviceAccounts.getOpenIdToken", "GenerateIdToken", AuditKind::kAdminActivity),
    // It lists the projects on which the caller has the permission.
    InHandler("GET /v1/projects", "resourcemanager.projects.get", "ListProjects", AuditKind::kDataRead),
    Ask(Scope::kProject, "GET /v1/projects/{project}", "resourcemanager.projects.get", "GetProject",
        AuditKind::kDataRead),
    Ask(Scope::kProject, "POST /v1/projects/{project}:getIamPolicy", "resourcemanager.projects.getIamPolicy",
        "GetIamPolicy", AuditKind::kDataRead),
    Ask(Scope::kProject, "POST /v1/projects/{project}:setIamPolicy", "resourcemanager.projects.setIamPolicy",
        "SetIamPolicy", AuditKind::kAdminActivity),
    LoggedIn("POST /v1/projects/{project}:testIamPermissions", "TestIamPermissions"),
    Ask(Scope::kProject, "POST /v1/projects/{project}/services/{service}:enable",
        "serviceusage.services.enable", "google.api.serviceusage.v1.ServiceUsage.EnableService",
        AuditKind::kAdminActivity),
    Ask(Scope::kProject, "POST /v1/projects/{project}/services:batchEnable", "serviceusage.services.enable",
        "google.api.serviceusage.v1.ServiceUsage.BatchEnableServices", AuditKind::kAdminActivity),
    Ask(Scope::kProject, "POST /v1beta1/projects/{project}/services/{service}:generateServiceIdentity",
        "serviceusage.services.enable",
        "google.api.serviceusage.v1beta1.ServiceUsage.GenerateServiceIdentity", AuditKind::kAdminActivity),
    Ask(Scope::kProject, "GET /v1/projects/{project}/services", "serviceusage.services.list",
        "google.api.serviceusage.v1.ServiceUsage.ListServices", AuditKind::kDataRead),
    Ask(Scope::kProject, "GET /v1/projects/{project}/services/{service}", "serviceusage.services.get",
        "google.api.serviceusage.v1.ServiceUsage.GetService", AuditKind::kDataRead),
    // It says no more than its name, and that it is done.
    LoggedIn("GET /v1/operations/{operation}", "google.longrunning.Operations.GetOperation"),
    // Logging in: what is sent proves who asks.
    Public("POST /token"),
    Public("POST /v1/token"),
    Public("POST /v1/introspect"),
    // The body names the principal. Everybody sees and revokes their own tokens.
    InHandler("POST /trainyard/v1/tokens", "trainyard.tokens.create", "trainyard.v1.Tokens.CreateToken",
              AuditKind::kAdminActivity),
    InHandler("GET /trainyard/v1/tokens", "trainyard.tokens.list", "trainyard.v1.Tokens.ListTokens",
              AuditKind::kDataRead),
    InHandler("DELETE /trainyard/v1/tokens/{token}", "trainyard.tokens.revoke",
              "trainyard.v1.Tokens.RevokeToken", AuditKind::kAdminActivity),
    LoggedIn("GET /trainyard/v1/whoami", "trainyard.v1.Tokens.WhoAmI"),
};

}  // namespace

std::span<const MethodRule> IdentityRows() { return kRows; }

}  // namespace trainyard::iam
