#pragma once

#include <cstdint>
#include <optional>

#include "access/socket_diag.h"
#include "http/peer.h"

namespace trainyard::access {

/// The account at the other end of a connection, by the quickest way that this kernel has. Loop thread.
class PeerUids {
 public:
  /// Looks what the kernel can do, and says so once where it is the slow way.
  PeerUids();

  /// Of a Unix socket what is known already; of TCP a question to the kernel. Nothing: the kernel does not
  /// know, because the peer is gone, or on another machine; whoever asks refuses then.
  [[nodiscard]] std::optional<std::uint32_t> Find(const http::Peer& peer) const;

 private:
  std::optional<SocketDiag> diag_;
};

}  // namespace trainyard::access
