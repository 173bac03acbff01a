#pragma once

#include <linux/filter.h>

#include <array>
#include <cstdint>
#include <vector>

#include "rules/container/system_calls.h"

/// The system call filter of a replica's program, as a classic BPF program for seccomp(2). A call that is not
/// in system_calls.inc fails with EPERM; one that is newer than all of these with ENOSYS, so that a libc
/// falls back to older calls. oci_spec.h has the same rules for runtimes that need JSON. Pure: any thread.
/// Source: Docker's default profile; seccomp(2), Documentation/userspace-api/seccomp_filter.rst.
namespace trainyard::container {

/// clone(2) may not make namespaces. clone3 has its flags in memory, which a filter cannot read: ENOSYS.
inline constexpr std::uint32_t kCloneFlagsRefused = 0x7E020000;
/// The allowed arguments of personality(2): Linux, 32 bits in uname, old layouts of memory; and the query.
inline constexpr std::array<std::uint32_t, 5> kPersonalities = {0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF};
/// Families of sockets that are not allowed: those that see all packets, and the hypervisor's.
inline constexpr std::array<std::uint32_t, 2> kSocketFamiliesRefused = {17 /* PACKET */, 40 /* VSOCK */};
/// The audit socket fails as on a kernel without audit, which PAM and useradd accept: EINVAL.
inline constexpr std::uint32_t kNetlinkFamily = 16;
inline constexpr std::uint32_t kNetlinkAudit = 9;

/// The filter for programs of this machine.
[[nodiscard]] std::vector<sock_filter> MakeSeccompFilter();

/// For tests: the rules of one table, for the call's number in register A.
[[nodiscard]] std::vector<sock_filter> CompileCalls(const CallTable& table);

}  // namespace trainyard::container
