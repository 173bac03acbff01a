#pragma once

#include <cstdint>
#include <string_view>

/// How many processes and threads a replica may have, where no cgroup says so: joining one takes up to 20 ms,
/// which is more than all the rest of a start.
namespace trainyard::replica {

/// Whether a release, as uname(2) has it ("6.1.0-18-amd64"), is at least that version. Pure: any thread.
[[nodiscard]] bool IsReleaseAtLeast(std::string_view release, int major, int minor);

/// Whether the kernel bounds the processes of a PID namespace by the namespace's own pid_max: Linux 6.14, and
/// /proc/sys can be written. It takes no bound below 301.
[[nodiscard]] bool CanLimitNamespace(std::int64_t processes);

/// Bounds the PID namespace of the calling process, which has CAP_SYS_ADMIN over it and is still in the mount
/// namespace's original /proc or a newer one. Only where CanLimitNamespace: an older kernel would take it for
/// the whole machine. False: errno says why not.
[[nodiscard]] bool LimitNamespace(std::int64_t processes);

/// Bounds the processes of this process's user for it and what it starts: in a user namespace those of that
/// namespace (since Linux 5.14), else all that the user has on the machine. The kernel does not hold root to
/// it. False: errno says why not.
[[nodiscard]] bool LimitUser(std::int64_t processes);

}  // namespace trainyard::replica
