#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// `trainyard connect-guard NAME... -- PROGRAM ARGUMENT...`: runs a program that connects to addresses that
/// strangers choose, and blocks its connections to this machine and to addresses that only this machine can
/// reach. skopeo is such a program: an image's name, a registry's redirects and its login address decide
/// where it connects. The program itself is trusted not to change an address during connect(2)
/// (connect_doors.h).
namespace trainyard::replica {

inline constexpr const char* kConnectGuard = "connect-guard";

/// An address and port that are allowed in spite of the rule. IPv4 as mapped IPv6.
struct ConnectPlace {
  in6_addr address{};
  std::uint16_t port = 0;
};

struct ConnectRule {
  std::vector<ConnectPlace> allowed;  ///< those that the operator named
  std::vector<in6_addr> own;          ///< this machine's addresses
};

/// Whether connect(2) to this sockaddr is refused: because of its kind (base/wire/host_name.h), or because it
/// is one of this machine's addresses. Sockets that are not IP are allowed; an address that could not be read
/// is refused. Pure: any thread.
[[nodiscard]] bool IsRefused(const ConnectRule& rule, std::span<const std::byte> address);

/// Makes the rule from the current addresses of the names ("HOST[:PORT]"; without a port 80 and 443) and of
/// the environment's proxies, and from this machine's addresses. Blocks: resolves names.
[[nodiscard]] ConnectRule MakeConnectRule(const std::vector<std::string>& names);

/// Runs the command. Returns the program's exit status, as a shell does; 125: the guard does not work here,
/// and the program has not run.
[[nodiscard]] int RunConnectGuard(int argc, char** argv);

}  // namespace trainyard::replica
