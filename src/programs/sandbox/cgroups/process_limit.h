#pragma once

#include <cstdint>
#include <string_view>

/// Limits how many processes and threads a replica may have without using a cgroup: joining one takes up to
/// 20 ms, which is more than the rest of a start.
namespace trainyard::replica {

/// Whether a release, in the form of uname(2) ("6.1.0-18-amd64"), is at least that version. Pure: any thread.
[[nodiscard]] bool IsReleaseAtLeast(std::string_view release, int major, int minor);

/// Whether the kernel can limit the processes of a PID namespace by the namespace's own pid_max: since Linux
/// 6.14, if /proc/sys is writable. The kernel accepts no limit below 301.
[[nodiscard]] bool CanLimitNamespace(std::int64_t processes);

/// Limits the PID namespace of the calling process, which needs CAP_SYS_ADMIN over it and must still see the
/// mount namespace's original /proc or a newer one. Call it only if CanLimitNamespace: an older kernel would
/// apply the limit to the whole machine. False: errno says why not.
[[nodiscard]] bool LimitNamespace(std::int64_t processes);

/// Limits the processes of this process's user, for this process and its descendants: in a user namespace the
/// limit counts processes of that namespace (since Linux 5.14), otherwise all of the user's on the machine.
/// The kernel does not apply it to root. False: errno says why not.
[[nodiscard]] bool LimitUser(std::int64_t processes);

}  // namespace trainyard::replica
