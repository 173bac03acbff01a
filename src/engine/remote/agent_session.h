#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/address.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/remote/remote_attempt_host.h"
#include "net/http/connection_budget.h"
#include "net/http/transport.h"
#include "net/mux/session.h"
#include "trainyard/agent/v1/agent.pb.h"

namespace trainyard::engine {

/// The address that an agent's connection comes from, and whether the connection is still open: TakeSlot may
/// take a while.
struct AgentOrigin {
  boost::asio::ip::address from;
  std::function<bool()> is_there;
};

/// Decides which agents are accepted: implemented by the engine of a cluster, whose grants start agents. Loop
/// thread only. Implementation: SlurmEngine.
class SlotKeeper {
 public:
  virtual ~SlotKeeper() = default;
  /// The first agent with a valid ticket that connects from the node where the cluster placed the slot gets
  /// the slot permanently, and may reconnect. Returns its name, once that is durable. An agent that has
  /// disconnected meanwhile gets no slot. kPermissionDenied: another agent has the slot, the ticket is void
  /// or the node is another one; the agent must end. Other errors are temporary: the agent should try again.
  virtual boost::asio::awaitable<Result<std::string>> TakeSlot(agent::v1::FromAgent::Hello hello,
                                                               AgentOrigin origin) = 0;
  virtual void OnAttached(const std::string& agent) = 0;
  virtual void OnDetached(const std::string& agent, mux::Ending ending) = 0;
  /// The cluster's time limit is near: the agent stops its programs, and ends.
  virtual void OnTimeLimit(const std::string& agent) = 0;
  /// Whether the agent of that name may be alive, or come back.
  [[nodiscard]] virtual bool MayLive(const std::string& agent) const = 0;
};

/// The kind of a connection that an agent relays, named after the server's own socket for it.
enum class RelayPurpose {
  kAttach,
  kReplica,
  kFrontTls,
  kFront,
  kOutside,  ///< not a socket of the server: HTTP CONNECT to other hosts (engine/remote/outside_door.h)
};

struct RelayedConnection {
  RelayPurpose purpose = RelayPurpose::kAttach;
  std::string attempt_id;  ///< the attempt whose process connected; empty for kAttach
};

/// "/agent/v1/replica/7-master-replica-0-1" and the like. Parses the path of a relayed connection. Empty: it
/// is none. Pure.
[[nodiscard]] std::optional<RelayedConnection> ParseRelayPath(std::string_view path);

/// The parts of the server that agents' connections use. All outlive the connections.
struct AgentDesk {
  SlotKeeper& slots;
  RemoteAttemptHost& host;
  ToAgent::Welcome welcome;
  std::function<void(RelayedConnection connection, std::shared_ptr<mux::Stream> stream)> relay;
};

/// A connection of a client that claims to be an agent.
struct AgentConnection {
  std::unique_ptr<http::Transport> transport;  ///< has done its handshake
  boost::asio::ip::address from;               ///< the other end; unspecified: not known
  http::ConnectionBudget* budget = nullptr;    ///< outlives it; has one left; null: not counted
  http::PeerKey peer{};                        ///< the client that it is counted for
  /// Released once the agent has its slot: until then the connection may be anybody's.
  std::shared_ptr<void> unproven = nullptr;
};

/// Serves an agent's connection until it ends. Loop thread.
boost::asio::awaitable<void> ServeAgent(boost::asio::any_io_executor loop, AgentConnection connection,
                                        const AgentDesk& desk);

}  // namespace trainyard::engine
