#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

/// Addresses that a server listens on, for TCP.
namespace trainyard::sockets {

/// Whether only this machine can reach the address: a loopback address, or "localhost".
[[nodiscard]] bool IsLoopback(const std::string& host);

/// Whether it means all addresses of the machine: "0.0.0.0" or "::".
[[nodiscard]] bool IsWildcard(const std::string& host);

/// kInvalidArgument: not an address; kFailedPrecondition: other machines can reach it but login is not
/// required (`auth` is false); the message explains why that is refused.
[[nodiscard]] Status CheckListenAddress(const std::string& host, bool auth);

/// The names and addresses by which others reach the machine: its host name and the addresses of its
/// interfaces.
[[nodiscard]] std::vector<std::string> MachineNames();

/// The names that a server listening on `host` accepts, in lower case, without those of the loopback: the
/// address (for a wildcard all that the machine has) and the values of --host-name.
[[nodiscard]] std::vector<std::string> OwnNames(const std::string& host,
                                                const std::vector<std::string>& host_names);

struct OwnPorts {
  std::vector<std::uint16_t> plain;  ///< on the loopback only
  std::uint16_t tls = 0;
};
/// The URLs of a server with these names, in the form that stores/identity/jwt.h expects; without a
/// port for a proxy that terminates TLS. Pure.
[[nodiscard]] std::vector<std::string> OwnUrls(const std::vector<std::string>& names, OwnPorts ports);

/// The host by which programs on this machine reach a server that listens on `host`.
[[nodiscard]] std::string LocalHost(const std::string& host);

/// The name by which other machines reach it: the first of its names, else its address, else the machine's
/// name.
[[nodiscard]] std::string PublicName(const std::string& host, const std::vector<std::string>& host_names);

/// "http://127.0.0.1:8470".
[[nodiscard]] std::string Url(const char* scheme, const std::string& host, std::uint16_t port);

/// `port` + `distance`; 0 (any port) if that is not a port.
[[nodiscard]] std::uint16_t PortBehind(std::uint16_t port, std::uint16_t distance);

}  // namespace trainyard::sockets
