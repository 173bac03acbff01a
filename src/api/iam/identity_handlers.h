#pragma once

#include <functional>
#include <string>
#include <vector>

#include "net/http/router.h"
#include "stores/identity/identities.h"
#include "stores/identity/key_file.h"

/// Accounts, roles, projects, tokens: who is known and what they may. What a caller needs for a method is
/// asked before it runs (rules/iam/method_table.h), but for what its body names. `identities` outlives the
/// router. Loop thread only. Source: spec access.md sections 2, 3 and 8.
namespace trainyard::api {

/// iam v1: a project's service accounts and their policies.
void AddServiceAccountRoutes(http::Router& router, identity::Identities& identities);
/// iam v1: keys of service accounts. `server`: of which key files speak; its URL may be empty: the one that
/// the request used.
void AddServiceAccountKeyRoutes(http::Router& router, identity::Identities& identities,
                                identity::KeyFileServer server);
/// iam v1: roles and permissions, which are the same everywhere.
void AddRoleRoutes(http::Router& router);

/// iamcredentials v1: tokens of service accounts for who may be them. An identity token's issuer is `server`
/// (empty: the URL that the request used).
void AddCredentialsRoutes(http::Router& router, identity::Identities& identities, const Clock& clock,
                          std::string server);

/// Projects that exist though no policy names them: jobs and buckets do.
using MoreProjects = std::function<boost::asio::awaitable<Result<std::vector<std::string>>>()>;
/// cloudresourcemanager v1: those projects on which the caller has any role, and their policies. `more` may
/// be null.
void AddResourceManagerRoutes(http::Router& router, identity::Identities& identities, MoreProjects more);

/// serviceusage v1: every service of this server is always on, so enabling one is done at once.
void AddServiceUsageRoutes(http::Router& router, identity::Identities& identities);

/// This server's own: tokens, and who the caller is. `own_audiences`: see stores/identity/jwt_rules.h.
void AddAccessTokenRoutes(http::Router& router, identity::Identities& identities,
                          std::vector<std::string> own_audiences);

/// The token endpoint: POST /token and /v1/token, with the grants jwt-bearer (a service account's signed
/// assertion) and token-exchange (a credential of this server for another of the same principal, an hour long
/// at most), and POST /v1/introspect. Refusals are OAuth's. `clock` outlives the router.
struct TokenEndpoint {
  std::vector<std::string> own_audiences;
  std::string server;  ///< issuer of identity tokens
};
void AddTokenEndpoint(http::Router& router, identity::Identities& identities, const Clock& clock,
                      TokenEndpoint endpoint);

}  // namespace trainyard::api
