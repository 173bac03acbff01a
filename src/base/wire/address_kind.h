#pragma once

#include <cstdint>
#include <span>

/// What kind of IP address this is, for rules on where a request of others may lead. Pure: any thread.
namespace trainyard::wire {

enum class AddressKind : std::uint8_t {
  kOutside,    ///< of the internet
  kPrivate,    ///< of a site: 10/8, 172.16/12, 192.168/16, 100.64/10, fc00::/7
  kMachine,    ///< of this machine alone: loopback, the unspecified address
  kLink,       ///< of this link alone: 169.254/16, fe80::/10
  kMetadata,   ///< where clouds tell a machine its credentials
  kNoMachine,  ///< multicast, broadcast, reserved, 64:ff9b:1::/48 (NAT64, by a plan that only its site knows)
};

/// @param bytes  4 or 16, in the network's order; any other number: kNoMachine. An IPv4 address in an IPv6
/// one (mapped, compatible, NAT64, 6to4) counts as itself. Sources: RFC 6890, 4291, 6052, 8215, 3056.
[[nodiscard]] AddressKind KindOfAddress(std::span<const std::uint8_t> bytes) noexcept;

}  // namespace trainyard::wire
