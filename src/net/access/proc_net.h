#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "net/access/socket_diag.h"
#include "net/http/peer.h"

/// What SocketDiag finds, read from /proc/net/tcp and tcp6 where there is no sock_diag (gVisor, old kernels).
/// Each call reads all sockets of the machine.
namespace trainyard::access {

/// Finds the peer's socket in the text of such a file. Nothing: it is not in it, or no process has it. Pure:
/// any thread. Source: Documentation/networking/proc_net_tcp.rst.
[[nodiscard]] std::optional<OwnedSocket> FindInTable(std::string_view text, const http::Peer& peer);

/// Reads the files. Errors: the file system's; kOutOfRange beyond 64 MiB of sockets.
[[nodiscard]] Result<std::optional<OwnedSocket>> FindInProc(const http::Peer& peer);

}  // namespace trainyard::access
