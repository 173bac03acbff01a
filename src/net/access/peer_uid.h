#pragma once

#include <cstdint>
#include <optional>

#include "net/access/socket_diag.h"
#include "net/http/peer.h"

namespace trainyard::access {

/// The account at the other end of a connection, found in the fastest way that this kernel offers. Loop
/// thread.
class PeerUids {
 public:
  /// Finds out what the kernel offers, and logs it once if only the slow way is left.
  PeerUids();

  /// For a Unix socket it is known already; for TCP the kernel is asked. Nothing: the kernel does not know,
  /// because the peer is gone or on another machine; the caller then refuses the request.
  [[nodiscard]] std::optional<std::uint32_t> Find(const http::Peer& peer) const;

  /// The number of the socket at the other end of a TCP connection. Nothing: as Find.
  [[nodiscard]] std::optional<std::uint32_t> SocketOf(const http::Peer& peer) const;

 private:
  [[nodiscard]] std::optional<OwnedSocket> Look(const http::Peer& peer) const;

  std::optional<SocketDiag> diag_;
};

}  // namespace trainyard::access
