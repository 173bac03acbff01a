#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <optional>
#include <string>

#include "base/async/task_group.h"
#include "base/async/unique_fd.h"
#include "engine/agent/connection_owner.h"
#include "engine/agent/uplink.h"
#include "net/http/listening_socket.h"

namespace trainyard::agent {

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
  struct Way {
    std::string path;  ///< "/agent/v1/attach"; except for kSupervisors, "/" and the attempt's id follow
    Who who = Who::kReplicas;
  };

  /// `owner` and `uplink` outlive it.
  LedSocket(boost::asio::any_io_executor loop, http::ListeningSocket socket, Way way, ConnectionOwner& owner,
            Uplink& uplink);

 private:
  boost::asio::awaitable<void> Accept();
  boost::asio::awaitable<void> Lead(UniqueFd connection);
  boost::asio::awaitable<std::optional<std::string>> PathOf(int connection);

  boost::asio::any_io_executor loop_;
  boost::asio::posix::stream_descriptor listener_;
  Way way_;
  ConnectionOwner& owner_;
  Uplink& uplink_;
  TaskGroup tasks_;
};

}  // namespace trainyard::agent
