#pragma once

#include <sys/types.h>

#include <functional>

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

}  // namespace trainyard::replica
