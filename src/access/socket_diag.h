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
  /// kUnavailable: this kernel has none of it for TCP (tried with a connection to itself).
  [[nodiscard]] static Result<SocketDiag> Open();

  /// The outer uid of who made the peer's socket, also if it is in another user namespace. Nothing: there is
  /// no such socket any more, or no process has it. Of a socket whose process closed it while bytes are still
  /// on their way the kernel says root, so who asks and runs away is nobody. Errors: the kernel's.
  [[nodiscard]] Result<std::optional<std::uint32_t>> OwnerOf(const http::Peer& peer) const;

 private:
  explicit SocketDiag(UniqueFd socket) : socket_(std::move(socket)) {}

  UniqueFd socket_;
};

}  // namespace trainyard::access
