#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/route.h"
#include "net/access/audit_line.h"
#include "net/access/failed_logins.h"
#include "stores/identity/identities.h"
#include "stores/identity/rsa_key.h"

namespace trainyard::control {
class JobService;
}  // namespace trainyard::control

namespace trainyard {
class Clock;
}  // namespace trainyard

/// Accounts, roles, projects, tokens (IamRoutes). The rights that a method needs are checked before it runs,
/// except those that depend on its body. Loop thread only. Source: spec access.md sections 2, 3 and 8.
namespace trainyard::api {

/// iam v1: a project's service accounts and their policies.
Waits<identity::Identities> CreateAccount, DeleteAccount, PatchAccount, UpdateAccount, EnableAccount,
    DisableAccount, GetAccountPolicy, SetAccountPolicy, TestAccountPermissions;
Answers<identity::Identities> GetAccount, ListAccounts;
/// iam v1: keys of service accounts. Key files contain the server's URL; if it is empty, the one that the
/// request used.
Waits<identity::Identities, const identity::KeyFileServer> CreateKey;
Waits<identity::Identities> DeleteKey, EnableKey, DisableKey;
Answers<identity::Identities> GetKey, ListKeys;
/// iam v1: roles and permissions, which are the same everywhere.
Answers<> GetRole, ListRoles;
Waits<> QueryTestablePermissions;

/// The names of this server in tokens.
struct TokenNames {
  std::vector<std::string> own_audiences;  ///< see stores/identity/jwt.h
  std::string server;  ///< the issuer of identity tokens; empty: the URL that the request used
};
/// iamcredentials v1: tokens of service accounts, for callers that may impersonate them.
Waits<identity::Identities, const Clock> GenerateAccessToken;
Waits<identity::Identities, const TokenNames> GenerateIdToken;

/// Projects that exist although no policy names them: jobs and buckets do.
using MoreProjects = std::function<boost::asio::awaitable<Result<std::vector<std::string>>>()>;
/// JobService::RecentProjects of `jobs`, which outlives the result.
[[nodiscard]] MoreProjects ProjectsOfJobs(control::JobService& jobs);
/// cloudresourcemanager v1: the projects on which the caller has any role, and their policies.
Waits<identity::Identities, const MoreProjects> ListProjects;
Answers<identity::Identities> GetProject;
Waits<identity::Identities> GetProjectPolicy, SetProjectPolicy, TestProjectPermissions;

/// serviceusage v1: every service of this server is always enabled, so enabling one is complete immediately.
Waits<identity::Identities> EnableService, BatchEnableServices, GenerateServiceIdentity;
Answers<identity::Identities> GetService, ListServices;
Answers<> GetServiceOperation;

/// This server's own methods: tokens, and the caller's identity.
Waits<identity::Identities> CreateToken, ListTokens, RevokeToken;
Waits<identity::Identities, const TokenNames> WhoAmI;

/// The token endpoint: POST /token and /v1/token, with the grants jwt-bearer (a service account's signed
/// assertion) and token-exchange (a credential of this server for another of the same principal, for at most
/// an hour), and POST /v1/introspect. Errors have OAuth's form. What is referred to outlives it.
struct TokenEndpoint {
  identity::Identities& identities;
  const Clock& clock;
  TokenNames names;
  access::FailedLogins failed{};
};
Waits<TokenEndpoint> GrantToken, IntrospectToken;

/// Finds the project of the newest job that the principal (empty: without authentication) may see; empty:
/// there is none.
using NewestProject = std::function<boost::asio::awaitable<std::string>(std::string principal)>;
/// Both outlive the result.
[[nodiscard]] NewestProject NewestProjects(control::JobService& jobs, const identity::Identities& known);

/// The data for browser logins. What is referred to outlives it.
struct Sessions {
  identity::Identities& identities;
  const Clock& clock;
  bool auth = false;                       ///< callers have to log in
  std::vector<std::string> own_audiences;  ///< see stores/identity/jwt.h
  std::string version;                     ///< of the server
  /// The value that proves, in addition to the cookie with this token, that the request comes from a page of
  /// the console.
  std::function<std::string(std::string_view token)> secret_of;
  access::AuditSink audit{};  ///< for logins and refusals
  NewestProject newest_project;
  access::FailedLogins failed{};
};

/// How long a browser stays logged in, unless the token with which it logged in expires earlier.
inline constexpr std::chrono::seconds kSessionLife = std::chrono::days(7);

/// /trainyard/v1/session (session.proto): GET returns the caller; POST exchanges a token for a cookie
/// (net/access/session_cookie.h) with another token, which ends with the first one, and the secret that
/// changes require in addition; DELETE, which requires it too, ends the session. Logins, failed ones and
/// logouts are audited; failed ones, also of GET, are slowed down as on other routes, because callers are not
/// authenticated before. Loop thread only.
Waits<Sessions> GetSession, LogIn, LogOut;

/// Wraps all handlers that the router has now: a path, or the query's "project", may give the project by its
/// number, as CLOUD_ML_PROJECT_ID does in the jobs of Vertex AI. The handlers, and what was wrapped around
/// them before, see the project's id. An id that is the number of another project means the other one.
/// `identities` outlives the router.
void TakeProjectNumbers(http::Router& router, const identity::Identities& identities);

}  // namespace trainyard::api
