#pragma once

#include <cstdint>
#include <optional>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "net/http/peer.h"

namespace trainyard::access {

/// The socket at the other end of a connection.
struct OwnedSocket {
  std::uint32_t uid = 0;     ///< of the account that made it
  std::uint32_t number = 0;  ///< as /proc/PID/fd of the process that has it shows it
  friend bool operator==(const OwnedSocket&, const OwnedSocket&) = default;
};

/// Asks the kernel for the owner of the socket at the other end of a TCP connection within this network
/// namespace, by NETLINK_SOCK_DIAG: one exact lookup, answered before the call returns, some microseconds.
/// One thread at a time.
class SocketDiag {
 public:
  /// kUnavailable: this kernel does not support it for TCP (tried with a connection to itself).
  [[nodiscard]] static Result<SocketDiag> Open();

  /// The peer's socket, with the uid as this namespace sees it, even of an account of another user namespace.
  /// Nothing: there is no such socket any more, or it was closed. For one that was closed while bytes are
  /// still on their way the kernel reports root; that counts as nothing too. One that is there may still be
  /// in no process: on its way in a message between two (server/socket_owners.h). Errors: the kernel's.
  [[nodiscard]] Result<std::optional<OwnedSocket>> Find(const http::Peer& peer) const;

 private:
  explicit SocketDiag(UniqueFd socket) : socket_(std::move(socket)) {}

  UniqueFd socket_;
};

}  // namespace trainyard::access
