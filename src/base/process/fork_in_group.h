#pragma once

#include <sys/types.h>

namespace trainyard {

/// fork(2), with the child in the cgroup of version 2 of that directory's descriptor from its first moment:
/// joining one later waits for every CPU. -1: in ours. A child that cannot be put there exits with 127. The
/// caller is single-threaded, or its child makes only async-signal-safe calls. Source: clone3(2).
[[nodiscard]] pid_t ForkInGroup(int cgroup) noexcept;

}  // namespace trainyard
