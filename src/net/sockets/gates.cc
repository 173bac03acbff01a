#include "net/sockets/gates.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/on_pool.h"
#include "base/process/account_name.h"
#include "base/process/process_sockets.h"
#include "base/wire/host_name.h"
#include "net/front/google_names.h"
#include "net/sockets/listen_address.h"

namespace trainyard::sockets {

namespace {

access::AllowedAccounts AccountsOf(const Gates::Options& options) {
  const uid_t own = ::geteuid();
  return {.own_uid = own, .own_name = AccountName(own), .local_users = options.local_users, .job_uids = {}};
}

/// Hosts are also checked if tokens are required: public paths must not be reachable through a rebound name.
access::AllowedHosts OwnHosts(const Gates::Options& options) {
  return {.names = OwnNames(options.host, options.host_names), .suffixes = {}};
}

/// Access by account. With authentication, a connection grants nothing until its process was looked up
/// (api/iam/authority.h), so this gate does not look it up.
access::GateOptions ForWorkstation(const Gates::Options& options, SocketOwners& owners) {
  access::GateOptions gate{.hosts = OwnHosts(options),
                           .accounts = AccountsOf(options),
                           .proxies = options.proxies,
                           .xml_storage_host = ""};
  if (!options.auth) gate.has_owner = [&owners](http::Peer& peer) { return owners.Has(peer); };
  return gate;
}

access::GateOptions ForAdministration(const Gates::Options& options, SocketOwners& owners) {
  access::GateOptions gate = ForWorkstation(options, owners);
  gate.asks_tokens = options.auth;
  return gate;
}

access::GateOptions ForReplicas(const Gates::Options& options, SocketOwners& owners) {
  access::GateOptions gate = ForWorkstation(options, owners);
  gate.is_attempt_uid = options.is_attempt_uid;
  gate.accounts.job_uids = options.job_uids;
  return gate;
}

/// Also accepts Google's public host names.
access::GateOptions WithGooglesNames(access::GateOptions gate) {
  gate.hosts.names.insert(gate.hosts.names.end(), front::kTlsHosts.begin(), front::kTlsHosts.end());
  gate.hosts.names.emplace_back(wire::kGoogleMetadataHost);
  gate.hosts.names.emplace_back(wire::kGoogleMetadataShortHost);
  gate.hosts.names.emplace_back(wire::kGoogleMetadataAddress);
  gate.xml_storage_host = front::kStorageHost;
  return gate;
}

access::GateOptions ForFront(const Gates::Options& options, SocketOwners& owners) {
  access::GateOptions gate = WithGooglesNames(ForReplicas(options, owners));
  gate.hosts.suffixes.emplace_back(wire::kMetadataSuffix);
  return gate;
}

/// Also those that are no names in replicas.
access::GateOptions ForUsersFront(const Gates::Options& options, SocketOwners& owners) {
  access::GateOptions gate = WithGooglesNames(ForWorkstation(options, owners));
  gate.hosts.names.insert(gate.hosts.names.end(), front::kUsersHosts.begin(), front::kUsersHosts.end());
  for (std::string& name : front::VertexHosts()) gate.hosts.names.push_back(std::move(name));
  return gate;
}

}  // namespace

Gates::Gates(const Options& options, boost::asio::any_io_executor loop, boost::asio::thread_pool& pool)
    : owners_(std::move(loop), pool, uids_),
      administration_(uids_, ForAdministration(options, owners_)),
      replicas_(uids_, ForReplicas(options, owners_)),
      front_(uids_, ForFront(options, owners_)),
      workstation_(uids_, ForUsersFront(options, owners_)) {
  if (!options.local_users) return;
  const access::AllowedAccounts accounts = AccountsOf(options);
  const std::string name = accounts.own_name.empty() ? std::to_string(accounts.own_uid) : accounts.own_name;
  Diagnose(DiagnosticLevel::kWarning,
           "--allow-local-users: every account of this machine may read all buckets and logs, and run "
           "programs as " +
               name);
}

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
