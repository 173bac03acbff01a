#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

/// Links and addresses of the calling thread's network namespace. Blocks only for as long as the kernel
/// takes. Errors contain the system's message and the step that failed. Source: rtnetlink(7), netdevice(7).
namespace trainyard::replica {

[[nodiscard]] Status MakeBridge(const std::string& name);

/// The other end of a bridge's port.
struct PortPeer {
  int network;            ///< descriptor of a network namespace
  std::string name;       ///< of the link there
  std::uint32_t address;  ///< IPv4, host byte order: determines the hardware address, which so stays the same
};
/// Makes a veth pair: one end `name` in the bridge and up, the other in the peer's namespace and down. It is
/// removed when either namespace ends.
[[nodiscard]] Status MakePort(const std::string& bridge, const std::string& name, const PortPeer& peer);

/// Removes a link; the other end of a veth pair is removed, too. It is no error if the link does not exist.
[[nodiscard]] Status RemoveLink(const std::string& name);

[[nodiscard]] Status SetUp(const std::string& link);
/// Makes the kernel notice immediately that the link's other end is up, and carry packets; otherwise that
/// takes up to a second, and the first packets are lost. Best effort: Linux 6.8 and later do so when the
/// state is queried.
void NoticeCarrier(const std::string& link);
/// Gives the link an IPv4 address (host byte order) of a network of 2^(32 - prefix) addresses.
[[nodiscard]] Status SetAddress(const std::string& link, std::uint32_t address, int prefix);

/// Parses an IPv4 address into host byte order; kInvalidArgument for anything else. Pure.
[[nodiscard]] Result<std::uint32_t> ParseAddress(const std::string& text);

}  // namespace trainyard::replica
