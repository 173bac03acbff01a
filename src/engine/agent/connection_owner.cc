#include "engine/agent/connection_owner.h"

#include <unistd.h>

#include "base/async/on_pool.h"
#include "engine/local/attempt_files.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/runtimes/attempt_processes.h"

namespace trainyard::agent {

namespace {

std::optional<std::string> FindAttempt(const std::string& attempts_dir, const replica::ConnectionEnd& end) {
  if (auto found = replica::FindAttemptOf(attempts_dir, end)) return found;
  if (end.pid == 0) return std::nullopt;
  const auto attempts = engine::ListAttempts(attempts_dir);
  if (!attempts) return std::nullopt;
  for (const engine::AttemptRef& attempt : *attempts)
    if (replica::LockHolder({attempts_dir + "/" + attempt.id}) == end.pid) return attempt.id;
  return std::nullopt;
}

}  // namespace

bool ConnectionOwner::IsOwn(const http::Peer& peer) const {
  const std::optional<std::uint32_t> uid = peer.uid ? peer.uid : peers_.Find(peer);
  return uid && (*uid == 0 || *uid == ::geteuid());
}

replica::ConnectionEnd ConnectionOwner::EndOf(const http::Peer& peer) const {
  return {.pid = peer.pid, .socket = peers_.SocketOf(peer).value_or(0)};
}

boost::asio::awaitable<std::optional<std::string>> ConnectionOwner::AttemptOf(http::Peer peer) {
  const replica::ConnectionEnd end = EndOf(peer);
  if (end.pid == 0 && end.socket == 0) co_return std::nullopt;
  auto look = [folder = attempts_dir_, end] { return FindAttempt(folder, end); };
  co_return co_await OnPool(looks_, std::move(look));
}

boost::asio::awaitable<bool> ConnectionOwner::IsOfProgram(std::string attempt_id, http::Peer peer) {
  auto look = [dir = replica::AttemptDir{attempts_dir_ + "/" + attempt_id}, end = EndOf(peer)] {
    return engine::IsOfProgram(dir, end);
  };
  co_return co_await OnPool(looks_, std::move(look));
}

}  // namespace trainyard::agent
