#include "api/iam/asking_attempts.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "api/iam/token_handlers.h"
#include "base/async/on_pool.h"
#include "control/run/access_token.h"
#include "net/access/forwarded_rules.h"
#include "programs/runtimes/attempt_processes.h"
#include "rules/iam/refusal.h"

namespace trainyard::api {

using boost::asio::awaitable;
using Attempt = AskingAttempts::Attempt;

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
      "With authentication this server's metadata server gives no token to a user of the network. The "
      "administrator's token is in DATA/admin-token, and is given by DATA/run/admin.sock to the server's "
      "account and root; with others' tokens programs log in as 'trainyard env' says.",
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
                                    "This name of the metadata server is for the attempt " + *named +
                                        ", and a program of " + *found +
                                        " asks. Ask under the name in this replica's GCE_METADATA_HOST.",
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
    co_return std::unexpected(
        Unavailable("Too many programs ask at once which replica they belong to: ask again"));
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
