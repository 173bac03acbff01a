#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <optional>
#include <string>

#include "base/async/task_group.h"
#include "base/async/unique_fd.h"
#include "engine/agent/uplink.h"
#include "net/access/peer_uid.h"
#include "net/http/listening_socket.h"
#include "net/http/peer.h"
#include "programs/runtimes/attempt_processes.h"

namespace trainyard::agent {

/// Finds out, from the node's kernel, which account or attempt a connection to one of the agent's sockets
/// belongs to. Loop thread; processes are inspected on a pool.
class ConnectionOwner {
 public:
  struct Options {
    std::string attempts_dir;
    /// All that can connect are processes that this one sees. False in a pod whose container with the job's
    /// image has processes of its own: what nobody here has made comes from there, and is the only attempt's.
    bool sees_all = true;
  };
  explicit ConnectionOwner(Options options) : options_(std::move(options)) {}

  /// Whether the connection is from the agent's account or root: then it may be a supervisor's. The server
  /// checks which attempt the supervisor belongs to.
  [[nodiscard]] bool IsOwn(const http::Peer& peer) const;
  /// The living attempt on this node one of whose processes (the supervisor is one of them) made the
  /// connection. The process is what counts, not its account: other processes of the same account are
  /// rejected.
  boost::asio::awaitable<std::optional<std::string>> AttemptOf(http::Peer peer);
  /// Whether the attempt's program made the connection, and not a process that prepares the attempt.
  boost::asio::awaitable<bool> IsOfProgram(std::string attempt_id, http::Peer peer);

 private:
  [[nodiscard]] replica::ConnectionEnd EndOf(const http::Peer& peer) const;

  Options options_;
  access::PeerUids peers_;
  boost::asio::thread_pool looks_{1};
};

/// How long an accepted connection waits for a connection to the server.
inline constexpr std::chrono::milliseconds kServerWaitMax{30'000};

/// A listening socket of the agent. Each accepted connection is forwarded to the server as a separate stream.
/// Loop thread only. The destructor closes all connections.
class LedSocket {
 public:
  enum class Who {
    kSupervisors,  ///< the agent's account or root; the path is the same for all
    kReplicas,     ///< processes of attempts; the attempt's id is the path's last part
    kBuilds,       ///< the same, without the attempts' programs
  };
  struct Target {
    std::string path;  ///< "/agent/v1/attach"; except for kSupervisors, "/" and the attempt's id follow
    Who who = Who::kReplicas;
  };

  /// `owner` and `uplink` outlive it.
  LedSocket(boost::asio::any_io_executor loop, http::ListeningSocket socket, Target target,
            ConnectionOwner& owner, Uplink& uplink);

 private:
  boost::asio::awaitable<void> Accept();
  boost::asio::awaitable<void> Lead(UniqueFd connection);
  boost::asio::awaitable<std::optional<std::string>> PathOf(int connection);

  boost::asio::any_io_executor loop_;
  boost::asio::posix::stream_descriptor listener_;
  Target target_;
  ConnectionOwner& owner_;
  Uplink& uplink_;
  TaskGroup tasks_;
};

}  // namespace trainyard::agent
