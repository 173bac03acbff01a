#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstddef>
#include <memory>
#include <string>

#include "async/task_group.h"
#include "async/unique_fd.h"
#include "base/result.h"
#include "engine/remote/agent_session.h"
#include "http/listening_socket.h"
#include "tls/tls_identity.h"

namespace trainyard::server {

/// The program that nodes run, as it was when the server began.
struct AgentProgram {
  UniqueFd file;
  std::string sha256;  ///< lower-case hexadecimal
};

/// Where agents connect: TLS from the first byte, and in plain `GET /agent/SHA256`, the agent's program,
/// since a node's shell can check a digest but not speak TLS. Loop thread only.
class AgentsListener {
 public:
  /// `desk` outlives it. Errors: a certificate that cannot be used.
  [[nodiscard]] static Result<std::unique_ptr<AgentsListener>> Open(boost::asio::io_context& loop,
                                                                    http::ListeningSocket socket,
                                                                    const tls::TlsIdentity& identity,
                                                                    const engine::AgentDesk& desk,
                                                                    AgentProgram program);
  AgentsListener(const AgentsListener&) = delete;
  AgentsListener& operator=(const AgentsListener&) = delete;

  /// No more connections; those that are there end.
  void Stop();

 private:
  AgentsListener(boost::asio::io_context& loop, http::ListeningSocket socket, boost::asio::ssl::context tls,
                 const engine::AgentDesk& desk, AgentProgram program);
  boost::asio::awaitable<void> Accept();
  boost::asio::awaitable<void> Serve(boost::asio::ip::tcp::socket socket);
  boost::asio::awaitable<void> SendProgram(boost::asio::ip::tcp::socket& socket);

  boost::asio::io_context& loop_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::ssl::context tls_;
  const engine::AgentDesk& desk_;
  AgentProgram program_;
  TaskGroup tasks_;
};

}  // namespace trainyard::server
