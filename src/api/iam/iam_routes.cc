#include <google/protobuf/empty.pb.h>

#include "api/iam/identity_handlers.h"
#include "api/iam/token_handlers.h"
#include "api/route.h"
#include "trainyard/iam/v1/policy.pb.h"
#include "trainyard/identity/v1/methods.pb.h"

namespace trainyard::api {
namespace {

using google::protobuf::Empty;
using iam::Ask;
using enum iam::AuditKind;
using iam::InHandler;
using iam::LoggedIn;
using iam::Public;
using enum iam::Scope;
using iam::v1::Policy;
using iam::v1::TestIamPermissionsResponse;
using namespace identity::v1;  // NOLINT: its messages

constexpr Route kIamRoutes[] = {
    // Source: iam v1, "IAM permissions for service accounts"; resourcemanager v1; serviceusage v1. These
    // requests carry their own proof: a token, or the cookie that it was exchanged for.
    {Public("GET /trainyard/v1/session"), kOutside, kBare, kCall<GetSession>},
    {Public("POST /trainyard/v1/session"), kOutside, kBare, kCall<LogIn>},
    {Public("DELETE /trainyard/v1/session"), kOutside, kBare, kCall<LogOut>},
    {Ask(kProject, "POST /v1/projects/{project}/serviceAccounts", "iam.serviceAccounts.create",
         "google.iam.admin.v1.CreateServiceAccount", kAdminActivity),
     kOutside, Json<ServiceAccount>(), kCall<CreateAccount>},
    {Ask(kProject, "GET /v1/projects/{project}/serviceAccounts", "iam.serviceAccounts.list",
         "google.iam.admin.v1.ListServiceAccounts", kDataRead),
     kOutside, Json<ListServiceAccountsResponse>("pageSize pageToken"), kCall<ListAccounts>},
    {Ask(kServiceAccount, "GET /v1/projects/{project}/serviceAccounts/{account}", "iam.serviceAccounts.get",
         "google.iam.admin.v1.GetServiceAccount", kDataRead),
     kOutside, OfAnyProject<ServiceAccount>(), kCall<GetAccount>},
    {Ask(kServiceAccount, "DELETE /v1/projects/{project}/serviceAccounts/{account}",
         "iam.serviceAccounts.delete", "google.iam.admin.v1.DeleteServiceAccount", kAdminActivity),
     kOutside, OfAnyProject<Empty>(), kCall<DeleteAccount>},
    {Ask(kServiceAccount, "PATCH /v1/projects/{project}/serviceAccounts/{account}",
         "iam.serviceAccounts.update", "google.iam.admin.v1.PatchServiceAccount", kAdminActivity),
     kOutside, OfAnyProject<ServiceAccount>(), kCall<PatchAccount>},
    {Ask(kServiceAccount, "PUT /v1/projects/{project}/serviceAccounts/{account}",
         "iam.serviceAccounts.update", "google.iam.admin.v1.UpdateServiceAccount", kAdminActivity),
     kOutside, OfAnyProject<ServiceAccount>(), kCall<UpdateAccount>},
    {Ask(kServiceAccount, "POST /v1/projects/{project}/serviceAccounts/{account}:disable",
         "iam.serviceAccounts.disable", "google.iam.admin.v1.DisableServiceAccount", kAdminActivity),
     kOutside, OfAnyProject<Empty>(), kCall<DisableAccount>},
    {Ask(kServiceAccount, "POST /v1/projects/{project}/serviceAccounts/{account}:enable",
         "iam.serviceAccounts.enable", "google.iam.admin.v1.EnableServiceAccount", kAdminActivity),
     kOutside, OfAnyProject<Empty>(), kCall<EnableAccount>},
    {Ask(kServiceAccount, "GET /v1/projects/{project}/serviceAccounts/{account}:getIamPolicy",
         "iam.serviceAccounts.getIamPolicy", "google.iam.admin.v1.GetIAMPolicy", kDataRead),
     kOutside, OfAnyProject<Policy>("options.requestedPolicyVersion"), kCall<GetAccountPolicy>},
    {Ask(kServiceAccount, "POST /v1/projects/{project}/serviceAccounts/{account}:getIamPolicy",
         "iam.serviceAccounts.getIamPolicy", "google.iam.admin.v1.GetIAMPolicy", kDataRead),
     kOutside, OfAnyProject<Policy>("options.requestedPolicyVersion"), kCall<GetAccountPolicy>},
    {Ask(kServiceAccount, "POST /v1/projects/{project}/serviceAccounts/{account}:setIamPolicy",
         "iam.serviceAccounts.setIamPolicy", "google.iam.admin.v1.SetIAMPolicy", kAdminActivity),
     kOutside, OfAnyProject<Policy>(), kCall<SetAccountPolicy>},
    // The answers of testIamPermissions only contain the caller's own permissions.
    {LoggedIn("POST /v1/projects/{project}/serviceAccounts/{account}:testIamPermissions",
              "google.iam.admin.v1.TestIAMPermissions"),
     kOutside, OfAnyProject<TestIamPermissionsResponse>(), kCall<TestAccountPermissions>},
    {Ask(kServiceAccount, "POST /v1/projects/{project}/serviceAccounts/{account}/keys",
         "iam.serviceAccountKeys.create", "google.iam.admin.v1.CreateServiceAccountKey", kAdminActivity),
     kOutside, OfAnyProject<ServiceAccountKey>("publicKeyType"), kCall<CreateKey>},
    {Ask(kServiceAccount, "GET /v1/projects/{project}/serviceAccounts/{account}/keys",
         "iam.serviceAccountKeys.list", "google.iam.admin.v1.ListServiceAccountKeys", kDataRead),
     kOutside, OfAnyProject<ListServiceAccountKeysResponse>("keyTypes"), kCall<ListKeys>},
    {Ask(kServiceAccount, "GET /v1/projects/{project}/serviceAccounts/{account}/keys/{key}",
         "iam.serviceAccountKeys.get", "google.iam.admin.v1.GetServiceAccountKey", kDataRead),
     kOutside, OfAnyProject<ServiceAccountKey>("publicKeyType"), kCall<GetKey>},
    {Ask(kServiceAccount, "DELETE /v1/projects/{project}/serviceAccounts/{account}/keys/{key}",
         "iam.serviceAccountKeys.delete", "google.iam.admin.v1.DeleteServiceAccountKey", kAdminActivity),
     kOutside, OfAnyProject<Empty>(), kCall<DeleteKey>},
    {Ask(kServiceAccount, "POST /v1/projects/{project}/serviceAccounts/{account}/keys/{key}:disable",
         "iam.serviceAccountKeys.disable", "google.iam.admin.v1.DisableServiceAccountKey", kAdminActivity),
     kOutside, OfAnyProject<Empty>(), kCall<DisableKey>},
    {Ask(kServiceAccount, "POST /v1/projects/{project}/serviceAccounts/{account}/keys/{key}:enable",
         "iam.serviceAccountKeys.enable", "google.iam.admin.v1.EnableServiceAccountKey", kAdminActivity),
     kOutside, OfAnyProject<Empty>(), kCall<EnableKey>},
    // The list of roles is not secret.
    {LoggedIn("GET /v1/roles", "google.iam.admin.v1.ListRoles"), kOutside,
     Json<ListRolesResponse>("pageSize pageToken parent showDeleted view"), kCall<ListRoles>},
    {LoggedIn("GET /v1/roles/{role}", "google.iam.admin.v1.GetRole"), kOutside, Json<Role>(), kCall<GetRole>},
    {LoggedIn("POST /v1/permissions:queryTestablePermissions",
              "google.iam.admin.v1.QueryTestablePermissions"),
     kOutside, Json<QueryTestablePermissionsResponse>(), kCall<QueryTestablePermissions>},
    // A caller that may make an account's tokens can act as it: always in the audit log.
    {Ask(kServiceAccount, "POST /v1/projects/{project}/serviceAccounts/{account}:generateAccessToken",
         "iam.serviceAccounts.getAccessToken", "GenerateAccessToken", kAdminActivity),
     kOutside, OfAnyProject<GenerateAccessTokenResponse>(), kCall<GenerateAccessToken>},
    {Ask(kServiceAccount, "POST /v1/projects/{project}/serviceAccounts/{account}:generateIdToken",
         "iam.serviceAccounts.getOpenIdToken", "GenerateIdToken", kAdminActivity),
     kOutside, OfAnyProject<GenerateIdTokenResponse>(), kCall<GenerateIdToken>},
    // It lists the projects on which the caller has the permission.
    {InHandler("GET /v1/projects", "resourcemanager.projects.get", "ListProjects", kDataRead), kOutside,
     Json<ListProjectsResponse>("filter pageSize pageToken"), kCall<ListProjects>},
    {Ask(kProject, "GET /v1/projects/{project}", "resourcemanager.projects.get", "GetProject", kDataRead),
     kOutside, Json<Project>(), kCall<GetProject>},
    {Ask(kProject, "POST /v1/projects/{project}:getIamPolicy", "resourcemanager.projects.getIamPolicy",
         "GetIamPolicy", kDataRead),
     kOutside, Json<Policy>("options.requestedPolicyVersion"), kCall<GetProjectPolicy>},
    {Ask(kProject, "POST /v1/projects/{project}:setIamPolicy", "resourcemanager.projects.setIamPolicy",
         "SetIamPolicy", kAdminActivity),
     kOutside, Json<Policy>(), kCall<SetProjectPolicy>},
    {LoggedIn("POST /v1/projects/{project}:testIamPermissions", "TestIamPermissions"), kOutside,
     Json<TestIamPermissionsResponse>(), kCall<TestProjectPermissions>},
    {Ask(kProject, "POST /v1/projects/{project}/services/{service}:enable", "serviceusage.services.enable",
         "google.api.serviceusage.v1.ServiceUsage.EnableService", kAdminActivity),
     kOutside, Json<ServiceOperation>(), kCall<EnableService>},
    {Ask(kProject, "POST /v1/projects/{project}/services:batchEnable", "serviceusage.services.enable",
         "google.api.serviceusage.v1.ServiceUsage.BatchEnableServices", kAdminActivity),
     kOutside, Json<ServiceOperation>(), kCall<BatchEnableServices>},
    {Ask(kProject, "POST /v1beta1/projects/{project}/services/{service}:generateServiceIdentity",
         "serviceusage.services.enable",
         "google.api.serviceusage.v1beta1.ServiceUsage.GenerateServiceIdentity", kAdminActivity),
     kOutside, Json<ServiceOperation>(), kCall<GenerateServiceIdentity>},
    {Ask(kProject, "GET /v1/projects/{project}/services", "serviceusage.services.list",
         "google.api.serviceusage.v1.ServiceUsage.ListServices", kDataRead),
     kOutside, Json<ListServicesResponse>("filter pageSize pageToken"), kCall<ListServices>},
    {Ask(kProject, "GET /v1/projects/{project}/services/{service}", "serviceusage.services.get",
         "google.api.serviceusage.v1.ServiceUsage.GetService", kDataRead),
     kOutside, Json<Service>(), kCall<GetService>},
    // It only says its name, and that it is done.
    {LoggedIn("GET /v1/operations/{operation}", "google.longrunning.Operations.GetOperation"), kOutside,
     Json<ServiceOperation>(), kCall<GetServiceOperation>},
    // Login: the request itself contains the proof.
    {Public("POST /token"), Where::kLogin, kBare, kCall<GrantToken>},
    // Without authentication, for programs that have credentials.
    {Public("POST /token"), Where::kNoLogin, kBare, kCall<GrantToAnyone>},
    {Public("POST /v1/token"), Where::kLogin, kBare, kCall<GrantToken>},
    {Public("POST /v1/introspect"), Where::kLogin, kBare, kCall<IntrospectToken>},
    // The body names the principal. Every caller can list and revoke its own tokens.
    {InHandler("POST /trainyard/v1/tokens", "trainyard.tokens.create", "trainyard.v1.Tokens.CreateToken",
               kAdminActivity),
     kOutside, kBare, kCall<CreateToken>},
    {InHandler("GET /trainyard/v1/tokens", "trainyard.tokens.list", "trainyard.v1.Tokens.ListTokens",
               kDataRead),
     kOutside, kBare, kCall<ListTokens>},
    {InHandler("DELETE /trainyard/v1/tokens/{token}", "trainyard.tokens.revoke",
               "trainyard.v1.Tokens.RevokeToken", kAdminActivity),
     kOutside, kBare, kCall<RevokeToken>},
    {LoggedIn("GET /trainyard/v1/whoami", "trainyard.v1.Tokens.WhoAmI"), kOutside, kBare, kCall<WhoAmI>},
};

}  // namespace

std::span<const Route> IamRoutes() { return kIamRoutes; }

}  // namespace trainyard::api
