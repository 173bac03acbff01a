#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainyard/replica/v1/replica.pb.h"

/// Which connections of a program are led elsewhere, and the filter that finds them. Pure: any thread.
/// docs/adr/0028-doors-without-port-443.md.
namespace trainyard::replica {

/// An IPv4 address and a TCP port, both in the order of this machine.
struct DoorPlace {
  std::uint32_t address = 0;
  std::uint16_t port = 0;
  friend bool operator==(const DoorPlace&, const DoorPlace&) = default;
};

/// Connections to `from` become connections to `to`.
struct ConnectDoor {
  DoorPlace from;
  DoorPlace to;
  friend bool operator==(const ConnectDoor&, const ConnectDoor&) = default;
};

/// Nothing for what is no dotted IPv4 address.
[[nodiscard]] std::optional<DoorPlace> ParseDoorPlace(const std::string& address, std::uint16_t port);

/// Where connections to Google's ports go when the front does not listen there, and those to the metadata
/// server's address. None where it does.
[[nodiscard]] std::vector<ConnectDoor> FrontDoors(const v1::GoogleFront& front);

/// Rewrites an address of connect(2) that a door is for: AF_INET, or AF_INET6 with a mapped IPv4 address,
/// whose family, size and scope stay. False, and nothing is changed: no door is for it.
[[nodiscard]] bool LeadElsewhere(const std::vector<ConnectDoor>& doors, std::span<std::byte> address);

/// Whether the call is socketcall(2), whose arguments are in the program's memory.
[[nodiscard]] bool IsSocketcall(std::uint32_t architecture, int number) noexcept;

/// A seccomp filter that asks its listener about every connect(2), of this architecture and, on x86-64, of
/// i386 (also by socketcall(2)), and allows all else. x32's is not among them: what runs here cannot call it
/// (rules/container/seccomp_filter.h). Source: seccomp(2), seccomp_unotify(2).
[[nodiscard]] std::vector<sock_filter> MakeConnectFilter();

}  // namespace trainyard::replica
