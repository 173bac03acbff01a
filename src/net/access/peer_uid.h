#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "net/http/peer.h"

namespace trainyard::access {

/// The socket at the other end of a connection.
struct OwnedSocket {
  std::uint32_t uid = 0;     ///< the account that created it
  std::uint32_t number = 0;  ///< its inode number, as in /proc/PID/fd of its process
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
  /// Nullopt: there is no such socket any more, or it was closed. For a socket that was closed while bytes
  /// are still in flight the kernel reports root; this also gives nullopt. A socket that exists may still
  /// belong to no process while it is in a message between two (sockets::SocketOwners). Errors: the
  /// kernel's.
  [[nodiscard]] Result<std::optional<OwnedSocket>> Find(const http::Peer& peer) const;

 private:
  explicit SocketDiag(UniqueFd socket) : socket_(std::move(socket)) {}

  UniqueFd socket_;
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
