#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "base/tls/tls_identity.h"
#include "net/http/head.h"
#include "net/http/listening_socket.h"
#include "net/http/peer.h"
#include "net/http/router.h"
#include "net/http/server_options.h"

namespace boost::asio {
class io_context;
}  // namespace boost::asio

namespace trainyard::http {

/// Serves a router over TCP, TLS and Unix sockets on one loop. Loop thread only.
///
/// Lifecycle: Listen*, then the loop runs; Stop() lets it run out. The router, everything that its handlers
/// use and the loop outlive the server. Destroy it when the loop does not run (it joins its connections by
/// running it). Ignores SIGPIPE for the whole process: sendfile(2) has no flag for that.
class Server {
 public:
  using Options = ServerOptions;

  Server(boost::asio::io_context& loop, const Router& router);
  Server(boost::asio::io_context& loop, const Router& router, Options options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// `host` is an IP address or "localhost"; port 0 picks one. Returns the port. kInvalidArgument: not an
  /// address; kAlreadyExists: the port is in use.
  Result<std::uint16_t> ListenTcp(const std::string& host, std::uint16_t port,
                                  FramingRules rules = FramingRules::kStrict);
  Result<std::uint16_t> ListenTls(const std::string& host, std::uint16_t port,
                                  const tls::TlsIdentity& identity,
                                  FramingRules rules = FramingRules::kStrict);
  /// The same on a socket that listens already (listening_socket.h).
  void ListenTcp(ListeningSocket socket, FramingRules rules = FramingRules::kStrict);
  Status ListenTls(ListeningSocket socket, const tls::TlsIdentity& identity,
                   FramingRules rules = FramingRules::kStrict);
  /// Connections that come from now on to ports with TLS get the new certificate; those that are there keep
  /// theirs. kInvalidArgument: it cannot be used, and the old one stays.
  Status UseIdentity(const tls::TlsIdentity& identity);
  /// Mode 0600. A socket file that nobody listens on is replaced; kAlreadyExists when somebody does. Any path
  /// length.
  Status ListenUnix(const std::filesystem::path& path, FramingRules rules = FramingRules::kStrict);
  /// The same with TLS: for relays that connect TCP clients to the socket.
  Status ListenUnixTls(const std::filesystem::path& path, const tls::TlsIdentity& identity,
                       FramingRules rules = FramingRules::kStrict);

  /// Serves a connected stream socket as the first listener without (with) TLS does what it accepts; `peer`
  /// is who is at its other end, as far as the caller knows. For connections that a relay brings from another
  /// machine. False: there is no such listener, or no room for a connection; the socket is closed.
  bool Adopt(UniqueFd socket, Peer peer, bool with_tls);

  /// Stops listening and closes upgraded connections at once, idle ones after `idle_wait`: what was sent
  /// before its client could know is answered. Requests in flight are answered, with `Connection: close`;
  /// what is left after Options::stop_wait_max is cancelled.
  void Stop(std::chrono::milliseconds idle_wait = std::chrono::milliseconds(0));
  [[nodiscard]] std::size_t connection_count() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trainyard::http
