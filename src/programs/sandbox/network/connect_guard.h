#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// `trainyard connect-guard NAME... -- PROGRAM ARGUMENT...`: runs a program that connects where strangers
/// tell it to, which skopeo does by an image's name, a registry's redirects and its login's address, and
/// refuses it connections to this machine and to what only this machine reaches. The program itself is
/// trusted: it connects to the address that it asked about (connect_doors.h).
namespace trainyard::replica {

inline constexpr const char* kConnectGuard = "connect-guard";

/// An address and port that a connection may have in spite of the rule. IPv4 as mapped IPv6.
struct ConnectPlace {
  in6_addr address{};
  std::uint16_t port = 0;
};

struct ConnectRule {
  std::vector<ConnectPlace> allowed;  ///< whom the operator named
  std::vector<in6_addr> own;          ///< this machine's addresses
};

/// Whether connect(2) to this sockaddr is refused: by its kind (base/wire/host_name.h), or as one of this
/// machine's own. What is no IP address goes on; one that could not be read is refused. Pure: any thread.
[[nodiscard]] bool IsRefused(const ConnectRule& rule, std::span<const std::byte> address);

/// What the names ("HOST[:PORT]"; without a port 80 and 443) and the proxies of the environment mean now, and
/// this machine's addresses. Blocks: asks the resolver for names that are no addresses.
[[nodiscard]] ConnectRule MakeConnectRule(const std::vector<std::string>& names);

/// The command. The program's exit status, as a shell has it; 125: there is no such guard here, and the
/// program has not run.
[[nodiscard]] int RunConnectGuard(int argc, char** argv);

}  // namespace trainyard::replica
