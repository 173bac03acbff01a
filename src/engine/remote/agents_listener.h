#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "base/async/task_group.h"
#include "base/async/unique_fd.h"
#include "base/result.h"
#include "base/tls/tls_identity.h"
#include "engine/remote/agent_session.h"
#include "net/http/connection_budget.h"
#include "net/http/listening_socket.h"

namespace trainyard::engine {

/// The program that nodes run, as it was when the server began.
struct AgentProgram {
  UniqueFd file;
  std::string sha256;  ///< lower-case hexadecimal
};

/// Connections from one address (IPv6: its /64) that have not shown a valid ticket yet; all from this machine
/// count as one address. A node starts as many agents at once as it has slots of a job.
inline constexpr std::size_t kUnprovenPerAddressMax = 512;

/// Where agents connect: TLS from the first byte, and in plain `GET /agent/SHA256`, the agent's program,
/// since a node's shell can check a digest but not speak TLS. Whoever has not shown a ticket has deadlines,
/// and makes room for the server's other clients. Loop thread only.
class AgentsListener {
 public:
  /// `desk` and `budget` outlive it. Errors: a certificate that cannot be used.
  [[nodiscard]] static Result<std::unique_ptr<AgentsListener>> Open(
      boost::asio::io_context& loop, http::ListeningSocket socket, const tls::TlsIdentity& identity,
      const AgentDesk& desk, AgentProgram program, http::ConnectionBudget& budget);
  AgentsListener(const AgentsListener&) = delete;
  AgentsListener& operator=(const AgentsListener&) = delete;

  /// No more connections; those that are there end.
  void Stop();

 private:
  AgentsListener(boost::asio::io_context& loop, http::ListeningSocket socket, boost::asio::ssl::context tls,
                 const AgentDesk& desk, AgentProgram program, http::ConnectionBudget& budget);
  boost::asio::awaitable<void> Accept();
  void Accepted(boost::asio::ip::tcp::socket socket);
  boost::asio::awaitable<void> Serve(boost::asio::ip::tcp::socket socket, http::PeerKey peer,
                                     std::shared_ptr<void> unproven);
  /// The socket once it has said that it speaks TLS and its transport has done its handshake; else null.
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
