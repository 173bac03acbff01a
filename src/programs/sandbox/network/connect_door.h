#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainyard/replica/v1/replica.pb.h"

/// Which connections of a program are redirected, and the filter that finds them. Pure: any thread.
/// docs/adr/0028-doors-without-port-443.md.
namespace trainyard::replica {

/// An IPv4 address and a TCP port, both in host byte order.
struct DoorPlace {
  std::uint32_t address = 0;
  std::uint16_t port = 0;
  friend bool operator==(const DoorPlace&, const DoorPlace&) = default;
};

/// A redirection: connections to `from` become connections to `to`.
struct ConnectDoor {
  DoorPlace from;
  DoorPlace to;
  friend bool operator==(const ConnectDoor&, const ConnectDoor&) = default;
};

/// Empty if it is no dotted IPv4 address.
[[nodiscard]] std::optional<DoorPlace> ParseDoorPlace(const std::string& address, std::uint16_t port);

/// Redirections of connections to Google's ports and to the metadata server's address, if the front does not
/// listen on those ports. Empty if it does.
[[nodiscard]] std::vector<ConnectDoor> FrontDoors(const v1::GoogleFront& front);

/// Rewrites an address of connect(2) to which a door applies: AF_INET, or AF_INET6 with a mapped IPv4
/// address, whose family, size and scope stay. False, with nothing changed, if no door applies.
[[nodiscard]] bool LeadElsewhere(const std::vector<ConnectDoor>& doors, std::span<std::byte> address);

/// Whether the call is socketcall(2), whose arguments are in the program's memory.
[[nodiscard]] bool IsSocketcall(std::uint32_t architecture, int number) noexcept;

/// A seccomp filter that asks its listener about every connect(2), of this architecture and, on x86-64, of
/// i386 (also by socketcall(2)), and allows everything else. It does not cover x32, which programs here
/// cannot call (rules/container/seccomp_filter.h). Source: seccomp(2), seccomp_unotify(2).
[[nodiscard]] std::vector<sock_filter> MakeConnectFilter();

}  // namespace trainyard::replica
