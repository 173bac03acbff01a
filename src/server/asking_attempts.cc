#include "server/asking_attempts.h"

#include <utility>

#include "api/token_handlers.h"
#include "async/on_pool.h"
#include "control/access_token.h"
#include "runtimes/attempt_processes.h"

namespace trainyard::server {

using boost::asio::awaitable;
using Attempt = AskingAttempts::Attempt;

namespace {

awaitable<Result<std::string>> IssueTo(control::TokenService& tokens, AskingAttempts& asking,
                                       const http::Request& request) {
  TY_CO_TRY(const std::optional<std::string> attempt, co_await asking.FindByPlace(request));
  co_return co_await tokens.Issue(request.host, attempt.value_or(control::kAnyReplica));
}

}  // namespace

AskingAttempts::AskingAttempts(boost::asio::any_io_executor loop, Sources sources)
    : sources_(std::move(sources)), looks_(std::move(loop), 1) {}

awaitable<Attempt> AskingAttempts::Find(const http::Request& request) {
  const control::Keys& keys = sources_.settings.keys;
  if (auto named = control::AttemptOfHost(keys, request.host)) co_return named;
  const std::string token = api::PresentedToken(request);
  if (control::LooksLikeAccessToken(token)) {
    const auto read = control::ReadAccessToken(keys, token, sources_.clock.Now());
    const bool is_attempts =
        read && read->owner != control::kAnyReplica && read->owner != control::kAdministration;
    if (is_attempts) co_return read->owner;
  }
  co_return co_await FindByConnection(request.peer);
}

awaitable<Attempt> AskingAttempts::FindByPlace(const http::Request& request) {
  if (auto named = control::AttemptOfHost(sources_.settings.keys, request.host)) co_return named;
  co_return co_await FindByConnection(request.peer);
}

awaitable<AskingAttempts::Instance> AskingAttempts::InstanceOf(const http::Request& request) {
  TY_CO_TRY(std::optional<std::string> attempt, co_await Find(request));
  if (!attempt) co_return std::nullopt;
  co_return co_await sources_.instance_of(*std::move(attempt));
}

awaitable<Attempt> AskingAttempts::FindByConnection(const http::Peer* peer) {
  if (peer == nullptr) co_return std::nullopt;
  if (!peer->attempt.empty()) co_return peer->attempt;  // another machine's kernel told its agent
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
  co_return co_await OnPool(sources_.pool, std::move(look));
}

std::function<awaitable<Result<std::string>>(const http::Request&)> TokensForReplicas(
    control::TokenService& tokens, AskingAttempts& asking) {
  return [&tokens, &asking](const http::Request& request) { return IssueTo(tokens, asking, request); };
}

}  // namespace trainyard::server
