#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "base/async/unique_fd.h"
#include "base/result.h"
#include "base/tls/tls_identity.h"
#include "engine/engine_options.h"
#include "engine/remote/agent_session.h"
#include "net/http/connection_budget.h"
#include "net/http/listening_socket.h"

namespace trainyard::engine {

/// The address at which agents reach this server.
struct AgentsAddress {
  std::string host{};      ///< numeric: where agents connect
  std::uint16_t port = 0;  ///< the same
  http::ListeningSocket socket{};
};

/// Listens for agents at the address that the options name, otherwise at this machine's address on the route
/// to the cluster's nodes. Address and port are recorded in the file `kept_in`, so that agents find the next
/// server. Blocking: it may resolve names. `nodes`: those of the cluster; empty: Slurm does not answer.
/// kFailedPrecondition: no address is known; the message says which option to set. Other errors: the port
/// cannot be bound.
[[nodiscard]] Result<AgentsAddress> ListenForAgents(const EngineOptions& options, const std::string& kept_in,
                                                    const std::vector<std::string>& hosts);

/// The numeric address that this machine uses to reach one of the hosts; empty: it cannot resolve any of
/// them.
[[nodiscard]] std::string OwnAddressTowards(const std::vector<std::string>& hosts);

/// The program that nodes run, as it was when the server began.
struct AgentProgram {
  UniqueFd file;
  std::string sha256;  ///< lower-case hexadecimal
};

/// Connections from one address (IPv6: its /64) that have not shown a valid ticket yet; all from this machine
/// count as one address. A node starts one agent for each of its slots of a job at the same time.
inline constexpr std::size_t kUnprovenPerAddressMax = 512;

/// The listener for agents. They use TLS from the first byte. The agent's program is also served without TLS,
/// at `GET /agent/SHA256`, since a node's shell can check a digest but not speak TLS. Connections that have
/// not shown a ticket have deadlines, and are closed first if the server needs connections for other clients.
/// Loop thread only.
class AgentsListener {
 public:
  /// `desk` and `budget` outlive it. Errors: a certificate that cannot be used.
  [[nodiscard]] static Result<std::unique_ptr<AgentsListener>> Open(
      boost::asio::io_context& loop, http::ListeningSocket socket, const tls::TlsIdentity& identity,
      const AgentDesk& desk, AgentProgram program, http::ConnectionBudget& budget);
  AgentsListener(const AgentsListener&) = delete;
  AgentsListener& operator=(const AgentsListener&) = delete;

  /// Accepts no more connections and ends the existing ones.
  void Stop();

 private:
  AgentsListener(boost::asio::io_context& loop, http::ListeningSocket socket, boost::asio::ssl::context tls,
                 const AgentDesk& desk, AgentProgram program, http::ConnectionBudget& budget);
  boost::asio::awaitable<void> Accept();
  void Accepted(boost::asio::ip::tcp::socket socket);
  boost::asio::awaitable<void> Serve(boost::asio::ip::tcp::socket socket, http::PeerKey peer,
                                     std::shared_ptr<void> unproven);
  /// Returns a transport once the client has begun TLS and the handshake is done; otherwise null.
  boost::asio::awaitable<std::unique_ptr<http::Transport>> Prove(boost::asio::ip::tcp::socket socket,
                                                                 http::PeerKey peer);
  /// Counts one more connection of the peer until the last copy goes. Null: it has too many.
  [[nodiscard]] std::shared_ptr<void> CountUnproven(const http::PeerKey& peer);
  boost::asio::awaitable<void> SendProgram(boost::asio::ip::tcp::socket& socket);

  boost::asio::io_context& loop_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::ssl::context tls_;
  const AgentDesk& desk_;
  AgentProgram program_;
  http::ConnectionBudget& budget_;
  std::map<http::PeerKey, std::size_t> unproven_;
  TaskGroup tasks_;
};

}  // namespace trainyard::engine
