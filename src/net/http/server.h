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
/// Lifecycle: call Listen*, then run the loop; after Stop() the loop runs out of work. The router, everything
/// that its handlers use and the loop outlive the server. Destroy it when the loop is not running: the
/// destructor runs the loop to end its connections. Ignores SIGPIPE for the whole process: sendfile(2) has no
/// flag for that.
class Server {
 public:
  using Options = ServerOptions;

  Server(boost::asio::io_context& loop, const Router& router);
  Server(boost::asio::io_context& loop, const Router& router, Options options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Serves a socket that listens already (listening_socket.h).
  void ListenTcp(ListeningSocket socket, FramingRules rules = FramingRules::kStrict);
  Status ListenTls(ListeningSocket socket, const tls::TlsIdentity& identity,
                   FramingRules rules = FramingRules::kStrict);
  /// Uses the new certificate for new connections to ports with TLS; open connections keep the old one.
  /// kInvalidArgument: it cannot be used, and the old one stays in use.
  Status UseIdentity(const tls::TlsIdentity& identity);
  /// Listens on a socket file with mode 0600. Replaces a socket file that no process listens on;
  /// kAlreadyExists if one does. The path may have any length.
  Status ListenUnix(const std::filesystem::path& path, FramingRules rules = FramingRules::kStrict);
  /// Like ListenUnix, with TLS: for relays that connect TCP clients to the socket.
  Status ListenUnixTls(const std::filesystem::path& path, const tls::TlsIdentity& identity,
                       FramingRules rules = FramingRules::kStrict);

  /// Serves a connected stream socket as if the first listener without (with) TLS had accepted it; `peer` is
  /// its other end, as far as the caller knows. For connections that a relay brings from another machine.
  /// False: there is no such listener, or too many connections; the socket is closed.
  bool Adopt(UniqueFd socket, Peer peer, bool with_tls);

  /// Stops listening and closes upgraded connections at once, idle ones after `idle_wait`, so that requests
  /// sent before the client could notice are still answered. Requests in flight are answered, with
  /// `Connection: close`; those left after Options::stop_wait_max are cancelled.
  void Stop(std::chrono::milliseconds idle_wait = std::chrono::milliseconds(0));
  [[nodiscard]] std::size_t connection_count() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trainyard::http
