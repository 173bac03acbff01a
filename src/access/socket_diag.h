#pragma once

#include <cstdint>
#include <optional>

#include "async/unique_fd.h"
#include "base/result.h"
#include "http/peer.h"

namespace trainyard::access {

/// Asks the kernel for the owner of the socket at the other end of a TCP connection within this network
/// namespace, by NETLINK_SOCK_DIAG: one exact lookup, answered before the call returns, some microseconds.
/// One thread at a time.
class SocketDiag {
 public:
  /// kUnavailable: this kernel does not support it for TCP (tried with a connection to itself).
  [[nodiscard]] static Result<SocketDiag> Open();

  /// The uid, as this namespace sees it, of the account that made the peer's socket, even in another user
  /// namespace. Nothing: there is no such socket any more, or no process holds it. For a socket that was
  /// closed while bytes are still on their way the kernel reports root; that counts as nothing too. Errors:
  /// the kernel's.
  [[nodiscard]] Result<std::optional<std::uint32_t>> OwnerOf(const http::Peer& peer) const;

  /// The number of the peer's socket, which is that in /proc/PID/fd of the process that has it. Nothing, and
  /// errors: as OwnerOf.
  [[nodiscard]] Result<std::optional<std::uint32_t>> NumberOf(const http::Peer& peer) const;

 private:
  struct Found {
    std::uint32_t uid;
    std::uint32_t number;
  };
  [[nodiscard]] Result<std::optional<Found>> Ask(const http::Peer& peer) const;

  explicit SocketDiag(UniqueFd socket) : socket_(std::move(socket)) {}

  UniqueFd socket_;
};

}  // namespace trainyard::access
