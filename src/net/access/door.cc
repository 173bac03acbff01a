#include "net/access/door.h"

#include <arpa/inet.h>

#include <array>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/async/diagnostics.h"
#include "base/check.h"
#include "base/wire/error_body.h"
#include "net/access/caller.h"
#include "net/access/kept_streams.h"
#include "rules/iam/method_table.h"
#include "rules/iam/refusal.h"

namespace trainyard::access {

using boost::asio::awaitable;
using http::Handler;
using http::Request;
using http::Response;
using iam::Access;
using iam::MethodRule;
using iam::Scope;

namespace {

constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;

/// The caller of one request. Remembers the permissions that were granted, so that a stream can check them
/// again.
class KnownCaller final : public Caller {
 public:
  KnownCaller(Authority& authority, iam::Login login) : authority_(authority), login_(std::move(login)) {}

  [[nodiscard]] const iam::Login& login() const noexcept override { return login_; }

  awaitable<Status> Require(std::string permission, iam::Resource resource) const override {
    const Authority::Standing standing =
        co_await authority_.StandingOf(login_.principal, permission, resource);
    if (!standing.is_granted)
      co_return std::unexpected(iam::Refusal(login_.principal, permission, resource, standing.is_seen));
    given_.emplace_back(std::move(permission), std::move(resource));
    co_return Status();
  }

  awaitable<bool> StillMay() const override { return StillMay(login_); }

  /// Like StillMay, but ignores that the login expires: an upload may end after its token has expired, as
  /// with Google's service.
  awaitable<bool> StillMayWhileItSends() const {
    iam::Login login = login_;
    login.expires.reset();
    return StillMay(std::move(login));
  }

 private:
  awaitable<bool> StillMay(iam::Login login) const {
    const bool holds = co_await authority_.StillHolds(std::move(login));
    if (!holds) co_return false;
    for (const auto& [permission, resource] : given_) {
      const Authority::Standing standing =
          co_await authority_.StandingOf(login_.principal, permission, resource);
      if (!standing.is_granted) co_return false;
    }
    co_return true;
  }

  Authority& authority_;
  iam::Login login_;
  mutable std::vector<std::pair<std::string, iam::Resource>> given_;
};

const MethodRule& RuleOf(const iam::MethodTable& methods, const http::Router::RouteInfo& route) {
  static constexpr MethodRule kRefusal{.route = "", .access = Access::kAuthenticated};
  const MethodRule* rule = methods.Find(route.name);
  if (rule == nullptr && route.is_refusal) return kRefusal;
  if (rule == nullptr) Diagnose(DiagnosticLevel::kError, "no rule for the route " + std::string(route.name));
  TY_CHECK(rule != nullptr);
  return *rule;
}

iam::Resource ResourceOf(const MethodRule& rule, const Request& request, const std::string& default_project) {
  switch (rule.scope) {
    case Scope::kInstallation: return iam::Resource::Installation();
    case Scope::kProject: return iam::Resource::Project(request.Parameter("project"));
    case Scope::kQueryProject: {
      const std::string_view project = request.Query("project");
      return iam::Resource::Project(project.empty() ? default_project : std::string(project));
    }
    case Scope::kJob: return iam::Resource::Job(request.Parameter("project"), request.Parameter("job"));
    case Scope::kBucket: return iam::Resource::Bucket(request.Parameter("bucket"));
    case Scope::kServiceAccount:
      return iam::Resource::ServiceAccount(request.Parameter("project"), request.Parameter("account"));
  }
  return iam::Resource::Installation();
}

/// RFC 6750 section 2.3: tokens in queries end up in logs and browser histories.
bool ShowsTokenInQuery(const Request& request) {
  return request.HasQuery("access_token") || request.HasQuery("oauth_token");
}

/// Names the service and method in an authentication error. Source: google/api/error_reason.proto.
void AddMethod(const MethodRule& rule, Error& error) {
  if (error.code != Code::kUnauthenticated || !error.info || rule.method_name.empty()) return;
  error.info->metadata.emplace_back("service", iam::ServiceName(rule.permission, rule.method_name));
  error.info->metadata.emplace_back("method", rule.method_name);
}

}  // namespace

struct Door::Decision {
  std::shared_ptr<const KnownCaller> caller;  ///< null: authentication is off, or the caller is unknown
  iam::Resource resource;
  Status status;
};

Door::Door(Authority& authority, const Clock& clock, Options options)
    : authority_(authority), clock_(clock), options_(std::move(options)) {}

void Door::Guard(http::Router& router) {
  router.Wrap([this](const http::Router::RouteInfo& route, Handler handler) -> Handler {
    const MethodRule& rule = RuleOf(options_.methods, route);
    if (rule.access == Access::kPublic) return handler;
    return [this, &rule, handler = std::move(handler)](Request& request) {
      return Answer(rule, handler, request);
    };
  });
}

awaitable<Status> Door::Check(Request& request, std::string_view route) {
  const MethodRule& rule = RuleOf(options_.methods, {.name = route});
  if (rule.access == Access::kPublic) co_return Status();
  Decision decision = co_await Decide(rule, request);
  if (!decision.status) Audit(rule, request, decision, wire::HttpStatus(decision.status.error().code));
  co_return std::move(decision.status);
}

awaitable<Door::Decision> Door::Decide(const MethodRule& rule, Request& request) {
  Decision decision;
  if (ShowsTokenInQuery(request)) {
    decision.status =
        std::unexpected(iam::BadToken("Tokens in the query are refused, because queries end up in logs. Send "
                                      "the token as 'Authorization: Bearer TOKEN'."));
    co_return decision;
  }
  Result<iam::Login> login = co_await authority_.WhoAsks(request);
  if (!login) {
    const bool has_shown_none = login.error().info && login.error().info->reason == iam::kCredentialsMissing;
    decision.status = std::unexpected(has_shown_none ? iam::NotLoggedIn(rule.permission) : login.error());
    co_return decision;
  }
  decision.caller = std::make_shared<KnownCaller>(authority_, *std::move(login));
  request.caller = decision.caller;
  decision.resource = ResourceOf(rule, request, options_.default_project);
  if (rule.access != Access::kPermission) co_return decision;
  decision.status = co_await decision.caller->Require(std::string(rule.permission), decision.resource);
  co_return decision;
}

awaitable<Result<Response>> Door::Answer(const MethodRule& rule, const Handler& handler, Request& request) {
  const Decision decision = co_await Decide(rule, request);
  if (!decision.status) {
    Error error = decision.status.error();
    const bool is_failed_login = error.code == Code::kUnauthenticated && request.headers.Has("Authorization");
    if (is_failed_login) co_await SlowDown(failed_logins_, AddressOf(request), clock_.Now());
    Response refused = Refused(rule, request, std::move(error));
    Audit(rule, request, decision, refused.status);
    co_return refused;
  }
  const KeptBody body(request, [caller = decision.caller] { return caller->StillMayWhileItSends(); });
  Result<Response> response = co_await handler(request);
  Audit(rule, request, decision, response ? response->status : wire::HttpStatus(response.error().code));
  if (response) {
    auto still_may = [caller = decision.caller] { return caller->StillMay(); };
    KeepOnlyWhile(std::move(still_may), *response);
  }
  co_return response;
}

Response Door::Refused(const MethodRule& rule, const Request& request, Error error) const {
  AddMethod(rule, error);
  Response response = options_.print_refusal
                          ? options_.print_refusal(rule.route, error)
                          : Response::Json(wire::PrintErrorBody(error), wire::HttpStatus(error.code));
  if (response.status == kUnauthorized) {
    const bool was_shown = request.headers.Has("Authorization");
    response.headers.Set("WWW-Authenticate", std::string(was_shown ? kInvalidTokenChallenge : kChallenge));
  }
  return response;
}

void Door::Audit(const MethodRule& rule, const Request& request, const Decision& decision, int status) {
  if (!options_.audit) return;
  // Handlers also refuse: they check the resources named in a body.
  const bool is_granted = decision.status.has_value() && status != kUnauthorized && status != kForbidden;
  // Granted reads are not logged: they would be nearly all of the log.
  if (is_granted && (rule.audit == iam::AuditKind::kNone || rule.audit == iam::AuditKind::kDataRead)) return;
  AuditLine line{.kind = rule.audit,
                 .address = AddressOf(request),
                 .agent = std::string(request.headers.Get("User-Agent")),
                 .method_name = std::string(rule.method_name.empty() ? rule.route : rule.method_name),
                 .permission = std::string(rule.permission),
                 .resource = decision.resource,
                 .is_granted = is_granted,
                 .status = status};
  if (decision.caller != nullptr) {
    line.principal = decision.caller->principal();
    line.credential = decision.caller->login().credential;
  }
  options_.audit(std::move(line));
}

std::string AddressOf(const Request& request) {
  if (!request.client_address.empty()) return request.client_address;
  if (request.peer == nullptr) return {};
  const http::Peer& peer = *request.peer;
  if (peer.kind == http::Peer::Kind::kUnix) return "local";
  if (peer.kind == http::Peer::Kind::kUnknown) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = peer.kind == http::Peer::Kind::kTcp4 ? AF_INET : AF_INET6;
  const char* printed = ::inet_ntop(family, peer.remote.bytes.data(), text.data(), text.size());
  return printed == nullptr ? std::string() : std::string(printed);
}

boost::asio::awaitable<Status> Require(const http::Request& request, std::string permission,
                                       iam::Resource resource) {
  const std::shared_ptr<const Caller> caller = request.caller;
  if (caller == nullptr) co_return Status();
  co_return co_await caller->Require(std::move(permission), std::move(resource));
}

std::string PrincipalOf(const http::Request& request) {
  return request.caller == nullptr ? std::string() : request.caller->principal();
}

}  // namespace trainyard::access
