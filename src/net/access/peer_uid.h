#pragma once

#include <cstdint>
#include <optional>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "net/access/tcp_table.h"
#include "net/http/peer.h"

namespace trainyard::access {

/// Asks the kernel for the owner of the socket at the other end of a TCP connection within this network
/// namespace, by NETLINK_SOCK_DIAG: one exact lookup, answered before the call returns, some microseconds.
/// One thread at a time.
class SocketDiag {
 public:
  /// kUnavailable: this kernel does not support it for TCP (tried with a connection to itself).
  [[nodiscard]] static Result<SocketDiag> Open();

  /// The peer's socket, with the uid as this namespace sees it, even of an account of another user namespace.
  /// Nullopt: there is no such socket any more, or it was closed. For a socket that was closed while bytes
  /// are still in flight the kernel reports root; this also gives nullopt. A socket that exists may still
  /// belong to no process while it is in a message between two (sockets::SocketOwners). Errors: the
  /// kernel's.
  [[nodiscard]] Result<std::optional<OwnedSocket>> Find(const http::Peer& peer) const;

 private:
  explicit SocketDiag(UniqueFd socket) : socket_(std::move(socket)) {}

  UniqueFd socket_;
};

/// The account at the other end of a connection, found in the fastest way that this kernel offers. Loop
/// thread.
class PeerUids {
 public:
  /// Finds out what the kernel offers, and logs it once if only the slow way is left.
  PeerUids();

  /// The account of the peer. For a Unix socket it is known already; for TCP this asks the kernel. Nullopt:
  /// the kernel does not know, because the peer is gone or on another machine; the caller then refuses the
  /// request.
  [[nodiscard]] std::optional<std::uint32_t> Find(const http::Peer& peer) const;

  /// The number of the socket at the other end of a TCP connection. Nullopt: as for Find.
  [[nodiscard]] std::optional<std::uint32_t> SocketOf(const http::Peer& peer) const;

 private:
  [[nodiscard]] std::optional<OwnedSocket> Look(const http::Peer& peer) const;

  std::optional<SocketDiag> diag_;
};

}  // namespace trainyard::access
