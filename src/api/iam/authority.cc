#include "api/iam/authority.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "api/iam/token_handlers.h"
#include "api/route.h"
#include "base/async/on_pool.h"
#include "control/job_rights.h"
#include "control/run/keys.h"
#include "control/run/token_service.h"
#include "net/access/forwarded_rules.h"
#include "net/access/session_cookie.h"
#include "programs/runtimes/attempt_processes.h"
#include "rules/iam/principal.h"
#include "rules/iam/refusal.h"
#include "stores/audit/audit_entry.h"

namespace trainyard::api {

namespace {

using Standing = access::Authority::Standing;
using Attempt = AskingAttempts::Attempt;

}  // namespace

awaitable<Result<iam::Login>> IdentityAuthority::WhoAsks(const http::Request& request) {
  std::string token = BearerToken(request);
  if (token.empty() && sources_.has_sessions) {
    TY_CO_TRY(const std::string cookie, access::SessionToken(request));
    if (!cookie.empty()) co_return co_await IfItsAttemptHolds(ByCookie(request, cookie));
  }
  if (token.empty()) co_return co_await ByConnection(request);
  if (control::LooksLikeAccessToken(token)) co_return co_await ByOwnToken(std::move(token), request);
  Result<iam::Login> login = co_await sources_.identities.Check(std::move(token), sources_.own_urls);
  if (!login) co_return std::unexpected(iam::BadToken(login.error()));
  co_return co_await IfItsAttemptHolds(std::move(login));
}

Result<iam::Login> IdentityAuthority::ByCookie(const http::Request& request, const std::string& token) const {
  const std::string_view shown = request.headers.Get(access::kConsoleField);
  if (!access::IsPlainRead(request) && !control::IsSame(shown, sources_.tokens.SessionSecret(token)))
    return std::unexpected(
        iam::BadToken("A session's cookie alone cannot make changes. The request must also send the "
                      "session's secret in the field " +
                      std::string(access::kConsoleField) + "."));
  Result<iam::Login> login = sources_.identities.CheckSession(token);
  if (!login) return std::unexpected(iam::BadToken(login.error()));
  return login;
}

/// Tokens of metadata servers: they prove themselves, and give the rights of their owner.
awaitable<Result<iam::Login>> IdentityAuthority::ByOwnToken(std::string token, const http::Request& request) {
  Result<control::AccessToken> valid = co_await sources_.tokens.Check(std::move(token));
  if (!valid) co_return std::unexpected(iam::BadToken(valid.error()));
  if (valid->owner == control::kAnyReplica) co_return co_await ByConnection(request);
  if (valid->owner == control::kAdministration)
    co_return iam::Login{.principal = std::string(iam::kAdministrator),
                         .credential = "local account",
                         .expires = valid->expires};
  TY_CO_TRY(iam::Login login, co_await ByAttempt(std::move(valid->owner)));
  login.expires = valid->expires;
  co_return login;
}

/// Also checks the account as which the attempt runs: it may be disabled by now, or replaced by another one
/// of the same name.
awaitable<bool> IdentityAuthority::AttemptHolds(iam::Login login) const {
  if (login.attempt_id.empty()) co_return true;
  const Result<iam::Login> now = co_await ByAttempt(std::move(login.attempt_id));
  co_return now && now->principal == login.attempt_principal;
}

awaitable<Result<iam::Login>> IdentityAuthority::IfItsAttemptHolds(Result<iam::Login> login) const {
  if (!login) co_return login;
  const bool holds = co_await AttemptHolds(*login);
  if (holds) co_return login;
  co_return std::unexpected(
      iam::BadToken("The attempt " + login->attempt_id +
                    ", whose program created this credential, has ended or no longer runs as " +
                    login->attempt_principal + "."));
}

awaitable<Result<iam::Login>> IdentityAuthority::ByAttempt(std::string attempt_id) const {
  const std::optional<control::Instance> instance = co_await sources_.jobs.InstanceOf(attempt_id);
  if (!instance) co_return std::unexpected(iam::BadToken("The attempt " + attempt_id + " has ended."));
  const std::string& email = instance->service_account;
  const Result<identity::v1::ServiceAccount> account = sources_.identities.FindServiceAccount(email);
  if (account && account->disabled())
    co_return std::unexpected(iam::BadToken(
        iam::Unauthenticated("Service account " + email + " is disabled. The job runs as this account.",
                             iam::kAccountStateInvalid)));
  // If the account was deleted, the principal has no rights except those of any logged-in caller, even if a
  // new account has its name.
  std::string principal =
      sources_.jobs.accounts().Shown(iam::ServiceAccountPrincipal(email), instance->account_id);
  iam::Login login{.principal = std::move(principal), .credential = "attempt " + attempt_id};
  login.attempt_principal = login.principal;
  login.attempt_id = std::move(attempt_id);
  co_return login;
}

awaitable<Result<iam::Login>> IdentityAuthority::ByConnection(const http::Request& request) {
  if (sources_.asking == nullptr || request.peer == nullptr) co_return std::unexpected(iam::NotLoggedIn());
  TY_CO_TRY(std::optional<std::string> attempt, co_await sources_.asking->FindByPlace(request));
  if (!attempt) co_return std::unexpected(iam::NotLoggedIn());
  co_return co_await ByAttempt(*std::move(attempt));
}

awaitable<bool> IdentityAuthority::StillHolds(iam::Login login) const {
  if (login.expires && *login.expires <= sources_.clock.Now()) co_return false;
  co_return sources_.identities.StillHolds(login) && co_await AttemptHolds(login);
}

awaitable<Standing> IdentityAuthority::StandingOf(std::string principal, std::string permission,
                                                  iam::Resource resource) {
  const identity::Identities& identities = sources_.identities;
  if (identities.Grants(principal, permission, resource))
    co_return Standing{.is_granted = true, .is_seen = true};
  Standing standing{.is_seen = identities.Knows(principal, resource)};
  if (resource.kind != iam::Resource::Kind::kJob) co_return standing;
  wire::JobName name{resource.project, resource.name};
  const Result<control::v1::JobRecord> job = co_await sources_.jobs.Record(std::move(name));
  if (!job) co_return standing;
  const auto has_basic_role = [&](std::string_view role, std::string_view project) {
    return identities.HasBasicRole(principal, role, project);
  };
  const bool is_member =
      identities.Grants(principal, "ml.jobs.get", iam::Resource::Project(resource.project));
  const control::Asker asker{
      .principal = principal, .is_member = is_member, .has_basic_role = has_basic_role};
  const control::JobStanding own = control::StandingOn(*job, asker, permission, sources_.jobs.accounts());
  co_return Standing{.is_granted = own.is_granted, .is_seen = standing.is_seen || own.is_seen};
}

access::AuditSink AuditInto(audit::AuditLog& log, const identity::Identities& identities,
                            std::string default_project) {
  return [&identities, &log, home = std::move(default_project)](access::AuditLine line) {
    const bool is_bucket = line.resource.kind == iam::Resource::Kind::kBucket;
    const std::string owner = is_bucket ? identities.ProjectOf(line.resource.name) : std::string();
    std::string project = audit::ProjectOf(line, owner, home);
    log.Add(std::move(line), std::move(project));
  };
}

namespace {

IdentityAuthority::Sources ForUsers(IdentityAuthority::Sources sources) {
  sources.has_sessions = true;
  sources.asking = nullptr;
  return sources;
}

access::Door::Options OptionsOfDoor(const std::string& default_project, const access::AuditSink& audit) {
  return {.methods = Methods(),
          .default_project = default_project,
          .audit = audit,
          .print_refusal = RefusalAnswer};
}

}  // namespace

Doors::Doors(const IdentityAuthority::Sources& sources, const std::string& default_project,
             const access::AuditSink& audit)
    : administration_authority_(ForUsers(sources)),
      replica_authority_(sources),
      administration_(administration_authority_, sources.clock, OptionsOfDoor(default_project, audit)),
      replicas_(replica_authority_, sources.clock, OptionsOfDoor(default_project, audit)) {}

namespace {

awaitable<Result<std::string>> IssueToReplica(control::TokenService& tokens, AskingAttempts& asking,
                                              const http::Request& request) {
  TY_CO_TRY(std::optional<std::string> attempt, co_await asking.FindByPlace(request));
  co_return co_await tokens.Issue(std::move(attempt).value_or(control::kAnyReplica));
}

bool IsAlive(pid_t pid) { return ::kill(pid, 0) == 0 || errno == EPERM; }

awaitable<Result<std::string>> IssueToAdministrator(control::TokenService& tokens, AskingAttempts& asking,
                                                    const http::Request& request) {
  const bool is_from_machine = co_await asking.IsFromMachine(request);
  if (is_from_machine) co_return co_await tokens.Issue(control::kAdministration);
  co_return std::unexpected(iam::Unauthenticated(
      "If login is required, the metadata server gives tokens only to root and the server's account, through "
      "DATA/run/admin.sock. Other users' programs log in with a token of their own, as 'trainyard env' "
      "explains. The administrator's token is in DATA/admin-token.",
      iam::kCredentialsMissing));
}

}  // namespace

AskingAttempts::AskingAttempts(boost::asio::any_io_executor loop, Sources sources)
    : sources_(std::move(sources)), looks_(std::move(loop), 1) {}

awaitable<Attempt> AskingAttempts::Find(const http::Request& request) {
  const std::string token = PresentedToken(request);
  if (control::LooksLikeAccessToken(token)) {
    const auto read = control::ReadAccessToken(sources_.settings.keys, token, sources_.clock.Now());
    const bool is_attempts =
        read && read->owner != control::kAnyReplica && read->owner != control::kAdministration;
    if (is_attempts) co_return read->owner;
  }
  co_return co_await FindByPlace(request);
}

awaitable<Attempt> AskingAttempts::FindByPlace(const http::Request& request) {
  TY_CO_TRY(std::optional<std::string> found, co_await FindByConnection(request.peer));
  const std::optional<std::string> named = control::AttemptOfHost(sources_.settings.keys, request.host);
  if (found && named && *found != *named) {
    co_return std::unexpected(Error{Code::kPermissionDenied,
                                    "This name of the metadata server belongs to the attempt " + *named +
                                        ", but the request comes from a program of " + *found +
                                        ". Use the name in this replica's GCE_METADATA_HOST.",
                                    ""});
  }
  co_return found;
}

awaitable<bool> AskingAttempts::IsFromMachine(const http::Request& request) {
  const http::Peer* peer = request.peer;
  if (peer == nullptr || peer->kind != http::Peer::Kind::kUnix || peer->pid <= 0) co_return false;
  if (peer->uid != 0U && peer->uid != ::geteuid()) co_return false;
  if (access::IsForwarded(request, {})) co_return false;
  const Attempt attempt = co_await FindByPlace(request);
  // It still exists after the look-up: so it is not among the attempts' processes because it belongs to none.
  co_return attempt && !*attempt && IsAlive(peer->pid);
}

awaitable<AskingAttempts::Instance> AskingAttempts::InstanceOf(const http::Request& request) {
  TY_CO_TRY(std::optional<std::string> attempt, co_await Find(request));
  if (!attempt) co_return std::nullopt;
  co_return co_await sources_.instance_of(*std::move(attempt));
}

/// Uses what another machine's kernel told its agent, or what an earlier request found: a program that passes
/// on its connection lets others use it.
awaitable<Attempt> AskingAttempts::FindByConnection(http::Peer* peer) {
  if (peer == nullptr) co_return std::nullopt;
  if (!peer->attempt.empty()) co_return peer->attempt;
  const replica::ConnectionEnd end{.pid = peer->pid, .socket = sources_.peers.SocketOf(*peer).value_or(0)};
  if (end.pid == 0 && end.socket == 0) co_return std::nullopt;
  Turns::Waiter turn(looks_);
  turn.Want();
  const bool has_turn = co_await turn.WaitFor(sources_.turn_wait_max);
  if (!has_turn) {
    co_return std::unexpected(Unavailable(
        "Too many requests are waiting for the replica that sent them to be identified. Try again"));
  }
  auto look = [folder = sources_.attempts_dir, end] { return replica::FindAttemptOf(folder, end); };
  std::optional<std::string> found = co_await OnPool(sources_.pool, std::move(look));
  if (found) peer->attempt = *found;
  co_return found;
}

TokenSource TokensForReplicas(control::TokenService& tokens, AskingAttempts& asking) {
  return [&tokens, &asking](const http::Request& request) { return IssueToReplica(tokens, asking, request); };
}

TokenSource TokensForUsers(control::TokenService& tokens, AskingAttempts& asking, bool auth) {
  if (!auth) return [&tokens](const http::Request&) { return tokens.Issue(control::kAnyReplica); };
  return [&tokens, &asking](const http::Request& request) {
    return IssueToAdministrator(tokens, asking, request);
  };
}

}  // namespace trainyard::api
