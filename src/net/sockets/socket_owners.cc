#include "net/sockets/socket_owners.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "base/async/on_pool.h"
#include "base/process/process_sockets.h"

namespace trainyard::sockets {

namespace {

bool IsTcp(const http::Peer& peer) {
  return peer.kind == http::Peer::Kind::kTcp4 || peer.kind == http::Peer::Kind::kTcp6;
}

/// Peer::pid of a process that this one may not inspect.
constexpr pid_t kUnseen = -1;
/// How many processes are remembered: a process that has connected is likely to connect again and is checked
/// first.
constexpr std::size_t kRecentMax = 8;

}  // namespace

boost::asio::awaitable<bool> SocketOwners::Has(http::Peer& peer) {
  if (!IsTcp(peer) || peer.pid != 0) co_return true;
  const auto socket = peers_.SocketOf(peer);
  if (!socket) co_return false;
  const auto question = std::make_shared<Question>(Question{.socket = *socket, .uid = peer.uid});
  questions_.push_back(question);
  while (!question->is_answered) {
    if (looking_)
      co_await ended_.Wait();
    else
      co_await Look();
  }
  peer.pid = question->owner;
  co_return peer.pid != 0;
}

boost::asio::awaitable<void> SocketOwners::Look() {
  /// Wakes the waiters when this look ends, even by a cancelled request.
  struct Looking {
    SocketOwners& owners;
    explicit Looking(SocketOwners& own) : owners(own) { owners.looking_ = true; }
    ~Looking() {
      owners.looking_ = false;
      owners.ended_.Set();
      owners.ended_.Reset();
    }
  };
  const Looking looking(*this);
  const std::vector<std::shared_ptr<Question>> asked = questions_;  // later questions belong to the next look
  std::set<std::uint32_t> sockets;
  for (const auto& question : asked) sockets.insert(question->socket);
  auto look = [sockets = std::move(sockets), first = recent_] { return FindSocketOwners(sockets, first); };
  const FoundOwners found = co_await OnPool(pool_, std::move(look));
  for (const auto& question : asked) {
    const auto owner = found.owners.find(question->socket);
    if (owner != found.owners.end())
      question->owner = owner->second;
    else if (question->uid && found.unseen_uids.contains(*question->uid))
      question->owner = kUnseen;
    question->is_answered = true;
  }
  for (const auto& [socket, owner] : found.owners) {
    std::erase(recent_, owner);
    recent_.insert(recent_.begin(), owner);
  }
  recent_.resize(std::min(recent_.size(), kRecentMax));
  std::erase_if(questions_, [](const auto& question) { return question->is_answered; });
}

}  // namespace trainyard::sockets
