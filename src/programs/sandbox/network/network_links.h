#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

/// Links and addresses of the network namespace that the calling thread is in. Blocking, but no longer than
/// the kernel takes. Errors are the system's words with the step that failed. Source: rtnetlink(7),
/// netdevice(7).
namespace trainyard::replica {

[[nodiscard]] Status MakeBridge(const std::string& name);

/// Where the other end of a bridge's port goes.
struct PortPeer {
  int network;            ///< descriptor of a network namespace
  std::string name;       ///< of the link there
  std::uint32_t address;  ///< IPv4, host byte order: makes the hardware address, so that it stays the same
};
/// A veth pair: one end `name` in the bridge and up, the other in the peer's namespace and down. It goes with
/// either namespace.
[[nodiscard]] Status MakePort(const std::string& bridge, const std::string& name, const PortPeer& peer);

/// The other end of a veth pair goes, too. A link that is not there is no error.
[[nodiscard]] Status RemoveLink(const std::string& name);

[[nodiscard]] Status SetUp(const std::string& link);
/// Makes the kernel notice now that the link's other end is up, and carry packets; else that takes up to a
/// second, and the first packets are lost. Best effort: Linux 6.8 and later do so when they are asked for the
/// state.
void NoticeCarrier(const std::string& link);
/// Gives the link an IPv4 address (host byte order) of a network of 2^(32 - prefix) addresses.
[[nodiscard]] Status SetAddress(const std::string& link, std::uint32_t address, int prefix);

/// Host byte order; kInvalidArgument for anything but an IPv4 address. Pure.
[[nodiscard]] Result<std::uint32_t> ParseAddress(const std::string& text);

}  // namespace trainyard::replica
