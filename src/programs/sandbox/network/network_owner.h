#pragma once

#include <sys/types.h>

#include <functional>

#include "base/async/unique_fd.h"
#include "base/result.h"

/// Networks of an ordinary user belong to a user namespace ("owner") in which the user is root
/// (docs/adr/0009-isolated-networks.md). A process that enters one cannot come back, so that what is done
/// there is done by short-lived children. Source: user_namespaces(7).
namespace trainyard::replica {

/// What a child made.
struct ChildReply {
  pid_t process = -1;  ///< -1: none
  UniqueFd network;    ///< a network namespace; empty: none
};

inline constexpr int kNoOwner = -1;   ///< the child stays in our user namespace
inline constexpr int kNewOwner = -2;  ///< a new user namespace, with all ids that we have (MapRoot)

/// Runs the function in a short-lived child, root of the user namespace `owner` (a descriptor or one of the
/// above), and returns what it returns. What the function clones with CLONE_PARENT is a child of ours. The
/// calling process must have one thread; blocks until the child has ended, which it does when that thread
/// ends, too. Errors of the child's own begin with the step that the kernel refused.
[[nodiscard]] Result<ChildReply> RunInChild(int owner, const std::function<Result<ChildReply>()>& function);

/// The user namespace that owns a network namespace, which must be ours or below ours.
[[nodiscard]] Result<UniqueFd> OwnerOf(int network);

/// The calling thread goes into the network namespace.
[[nodiscard]] Status EnterNetwork(int network);

}  // namespace trainyard::replica
