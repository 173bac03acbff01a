#pragma once

#include <sys/types.h>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// Finds the process that uses a TCP port that this server wants, for an error message that says what to do.
namespace trainyard::sockets {

/// The owner of a port, as far as this account may see it.
struct PortOwner {
  pid_t pid = 0;         ///< 0: unknown: we may not inspect another account's processes
  std::string program;   ///< its command line's first words
  std::string user;      ///< name, or number
  std::string data_dir;  ///< of a Trainyard server; empty: it is another program
  friend bool operator==(const PortOwner&, const PortOwner&) = default;
};

/// A listening socket in the text of /proc/net/tcp or tcp6.
struct ListeningEntry {
  std::uint32_t uid = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const ListeningEntry&, const ListeningEntry&) = default;
};

/// The local addresses, as the kernel prints them, that conflict with listening on `host` if another socket
/// listens on them: `host` itself and the wildcards (that of IPv6 accepts IPv4 connections too). Empty if
/// `host` is not an address; nullopt if it is a wildcard, which conflicts with every address. Pure.
[[nodiscard]] std::optional<std::vector<std::string>> AddressesInTheWay(const std::string& host);

/// The first entry that listens on the port at one of the addresses, or at any if that is nullopt. Pure.
/// Source: proc_net_tcp.rst.
[[nodiscard]] std::optional<ListeningEntry> FindListening(
    std::string_view table, const std::optional<std::vector<std::string>>& addresses, std::uint16_t port);

/// Finds the process that keeps a server from listening there. Reads /proc. Nullopt: no process in this
/// network namespace does (any more).
/// @param host  a numeric address, or "localhost", as for http::ListenOnTcp
[[nodiscard]] std::optional<PortOwner> FindPortOwner(const std::string& host, std::uint16_t port);

/// The error for a port that is in use. Pure.
/// @param place  "127.0.0.1:8470"
/// @param data_dir  of the server that wants the port
[[nodiscard]] Error PortInUse(const std::string& place, const std::optional<PortOwner>& owner,
                              const std::string& data_dir);

}  // namespace trainyard::sockets
