#include "engine/agent/led_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/on_pool.h"
#include "engine/local/attempt_files.h"
#include "net/mux/pump.h"
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

constexpr std::chrono::milliseconds kAcceptRetry{100};  // when there are no free descriptors
/// The most connections of one socket: each needs a stream, and all sockets share mux::kStreamsMax.
constexpr std::size_t kConnectionsMax = 500;

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
  auto look = [options = options_, end] {
    std::optional<std::string> found = FindAttempt(options.attempts_dir, end);
    return found || options.sees_all ? found : replica::FindOnlyAttempt(options.attempts_dir);
  };
  co_return co_await OnPool(looks_, std::move(look));
}

boost::asio::awaitable<bool> ConnectionOwner::IsOfProgram(std::string attempt_id, http::Peer peer) {
  auto look = [dir = replica::AttemptDir{options_.attempts_dir + "/" + attempt_id}, end = EndOf(peer)] {
    return engine::IsOfProgram(dir, end);
  };
  co_return co_await OnPool(looks_, std::move(look));
}

namespace asio = boost::asio;

LedSocket::LedSocket(asio::any_io_executor loop, http::ListeningSocket socket, Target target,
                     ConnectionOwner& owner, Uplink& uplink)
    : loop_(loop),
      listener_(loop, socket.descriptor.Release()),
      target_(std::move(target)),
      owner_(owner),
      uplink_(uplink),
      tasks_(std::move(loop)) {
  tasks_.Spawn(Accept());
}

asio::awaitable<void> LedSocket::Accept() {
  for (;;) {
    UniqueFd connection(::accept4(listener_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    const int failed = errno;
    if (connection) {
      if (tasks_.size() <= kConnectionsMax) tasks_.Spawn(Lead(std::move(connection)));
      continue;
    }
    if (failed == EINTR || failed == ECONNABORTED) continue;
    if (failed == EAGAIN) {
      co_await listener_.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
      continue;
    }
    Diagnose(DiagnosticLevel::kWarning, "accept: " + std::generic_category().message(failed));
    asio::steady_timer retry(loop_, kAcceptRetry);
    co_await retry.async_wait(asio::use_awaitable);
  }
}

/// The stream's path for the connection; empty: the process that connected is not allowed here.
asio::awaitable<std::optional<std::string>> LedSocket::PathOf(int connection) {
  const http::Peer peer = http::PeerOf(connection);
  if (target_.who == Who::kSupervisors) {
    if (owner_.IsOwn(peer)) co_return target_.path;
    co_return std::nullopt;
  }
  const std::optional<std::string> attempt = co_await owner_.AttemptOf(peer);
  if (!attempt) co_return std::nullopt;
  if (target_.who == Who::kBuilds && co_await owner_.IsOfProgram(*attempt, peer)) co_return std::nullopt;
  co_return target_.path + "/" + *attempt;
}

asio::awaitable<void> LedSocket::Lead(UniqueFd connection) {
  const std::optional<std::string> path = co_await PathOf(connection.get());
  if (!path) {
    Diagnose(DiagnosticLevel::kWarning,
             "closed a connection to " + target_.path + ": its process is not allowed to use it");
    co_return;
  }
  std::shared_ptr<mux::Stream> stream = co_await uplink_.Open(*path, kServerWaitMax);
  if (!stream) co_return;
  const int on = 1;  // turns off the delay; fails on Unix sockets, which have none
  ::setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  co_await mux::Pump(std::move(stream), std::move(connection));
}

}  // namespace trainyard::agent
