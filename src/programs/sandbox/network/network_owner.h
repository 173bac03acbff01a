#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

#include "base/async/unique_fd.h"
#include "base/result.h"

/// Networks of an ordinary user belong to a user namespace ("owner") in which the user is root
/// (docs/adr/0009-isolated-networks.md). A process that enters one cannot leave it, so short-lived children
/// do the work there. Source: user_namespaces(7).
namespace trainyard::replica {

/// The result of a child.
struct ChildReply {
  pid_t process = -1;  ///< -1: none
  UniqueFd network;    ///< a network namespace; empty: none
};

inline constexpr int kNoOwner = -1;   ///< the child stays in the current user namespace
inline constexpr int kNewOwner = -2;  ///< a new user namespace, with all of our ids (MapRoot)

/// Runs the function in a short-lived child that is root of the user namespace `owner` (a descriptor or one
/// of the above), and returns its result. A process that the function clones with CLONE_PARENT is a child of
/// the caller. The calling process must have one thread; blocks until the child has ended. The child also
/// ends when that thread ends. Errors of the child itself begin with the step that the kernel rejected.
[[nodiscard]] Result<ChildReply> RunInChild(int owner, const std::function<Result<ChildReply>()>& function);

/// The user namespace that owns a network namespace; it must be ours or a descendant of ours.
[[nodiscard]] Result<UniqueFd> OwnerOf(int network);

/// Moves the calling thread into the network namespace.
[[nodiscard]] Status EnterNetwork(int network);

// Links and addresses of the calling thread's network namespace. The functions block only for as long as the
// kernel takes. Errors contain the system's message and the step that failed. Source: rtnetlink(7),
// netdevice(7).

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
