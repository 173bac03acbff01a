#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "net/http/peer.h"

namespace trainyard::access {

/// The socket at the other end of a connection.
struct OwnedSocket {
  std::uint32_t uid = 0;     ///< the account that created it
  std::uint32_t number = 0;  ///< its inode number, as in /proc/PID/fd of its process
  friend bool operator==(const OwnedSocket&, const OwnedSocket&) = default;
};

/// One socket of /proc/net/tcp or tcp6, as the kernel prints it. The views are those of the table's text.
struct TcpTableEntry {
  std::string_view local;   ///< "0100007F:2116": the address in words of the machine's order, then the port
  std::string_view remote;  ///< the same
  std::string_view state;   ///< "0A": it listens
  std::uint32_t uid = 0;
  std::uint32_t inode = 0;  ///< 0: no process has it
};
/// Takes the next entry from `table`; nullopt at its end. Lines of another form are skipped.
[[nodiscard]] std::optional<TcpTableEntry> TakeTcpTableEntry(std::string_view& table);

// The same information as from SocketDiag, read from /proc/net/tcp and tcp6 if there is no sock_diag (gVisor,
// old kernels). Each call reads all sockets of the machine.

/// Finds the peer's socket in the text of such a file. Nullopt: it is not listed, or no process has it. Pure:
/// any thread. Source: Documentation/networking/proc_net_tcp.rst.
[[nodiscard]] std::optional<OwnedSocket> FindInTable(std::string_view text, const http::Peer& peer);

/// Reads the files. Errors: the file system's; kOutOfRange beyond 64 MiB of sockets.
[[nodiscard]] Result<std::optional<OwnedSocket>> FindInProc(const http::Peer& peer);

}  // namespace trainyard::access
