#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

/// Where a server listens on TCP.
namespace trainyard::sockets {

/// Whether only this machine reaches the address: a loopback one, or "localhost".
[[nodiscard]] bool IsLoopback(const std::string& host);

/// Whether it stands for all addresses of the machine: "0.0.0.0" or "::".
[[nodiscard]] bool IsWildcard(const std::string& host);

/// kInvalidArgument: no address; kFailedPrecondition: one that other machines reach, and nobody has to log in
/// (`auth`), with why that is refused.
[[nodiscard]] Status CheckListenAddress(const std::string& host, bool auth);

/// Under which names and addresses others reach the machine: its host name, and what its interfaces have.
[[nodiscard]] std::vector<std::string> MachineNames();

/// The names under which a server that listens on `host` answers, in lower case, beside those of the
/// loopback: the address, or all that the machine has, and what --host-name gives.
[[nodiscard]] std::vector<std::string> OwnNames(const std::string& host,
                                                const std::vector<std::string>& host_names);

struct OwnPorts {
  std::vector<std::uint16_t> plain;  ///< of the loopback alone
  std::uint16_t tls = 0;
};
/// The URLs that mean a server of these names, as stores/identity/jwt_rules.h takes them; without a port
/// where a proxy ends TLS. Pure.
[[nodiscard]] std::vector<std::string> OwnUrls(const std::vector<std::string>& names, OwnPorts ports);

/// Where this machine's own programs ask a server that listens on `host`.
[[nodiscard]] std::string LocalHost(const std::string& host);

/// What other machines call it: the first of its names, else its address, else the machine's name.
[[nodiscard]] std::string PublicName(const std::string& host, const std::vector<std::string>& host_names);

/// "http://127.0.0.1:8470".
[[nodiscard]] std::string Url(const char* scheme, const std::string& host, std::uint16_t port);

/// The port that is `distance` behind; 0 (any) where there is none.
[[nodiscard]] std::uint16_t PortBehind(std::uint16_t port, std::uint16_t distance);

}  // namespace trainyard::sockets
