#pragma once

#include <sys/types.h>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// Who has a TCP port that this server would listen on, for a message that says how to go on.
namespace trainyard::sockets {

/// As far as this account may see it.
struct PortOwner {
  pid_t pid = 0;         ///< 0: another account's processes are not ours to look into
  std::string program;   ///< its command line's first words
  std::string user;      ///< name, or number
  std::string data_dir;  ///< of a Trainyard server; empty: it is none
  friend bool operator==(const PortOwner&, const PortOwner&) = default;
};

/// A listening socket in the text of /proc/net/tcp or tcp6.
struct ListeningEntry {
  std::uint32_t uid = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const ListeningEntry&, const ListeningEntry&) = default;
};

/// As the kernel prints them: the local addresses with which a listener keeps this one from being bound,
/// itself and the wildcards (that of IPv6 has IPv4's connections too). None of what is no address; nothing of
/// a wildcard: every address is in its way. Pure.
[[nodiscard]] std::optional<std::vector<std::string>> AddressesInTheWay(const std::string& host);

/// The first that listens on the port at one of the addresses, or at any. Pure. Source: proc_net_tcp.rst.
[[nodiscard]] std::optional<ListeningEntry> FindListening(
    std::string_view table, const std::optional<std::vector<std::string>>& addresses, std::uint16_t port);

/// Who keeps a server from listening there. Reads /proc. Nothing: nobody of this network namespace any more.
/// @param host  a numeric address, or "localhost" as http::ListenOnTcp has it
[[nodiscard]] std::optional<PortOwner> FindPortOwner(const std::string& host, std::uint16_t port);

/// What is said of a used port. Pure.
/// @param place  "127.0.0.1:8470"
/// @param data_dir  of the server that wants it
[[nodiscard]] Error PortInUse(const std::string& place, const std::optional<PortOwner>& owner,
                              const std::string& data_dir);

}  // namespace trainyard::sockets
