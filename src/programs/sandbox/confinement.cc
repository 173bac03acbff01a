#include "programs/sandbox/confinement.h"

#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "rules/container/rights.h"
#include "rules/container/seccomp_filter.h"

namespace trainyard::replica {

namespace {

using Failure = std::optional<ConfinementFailure>;

/// The capabilities to keep, as a bit set.
std::uint64_t Kept(Rights rights) {
  std::uint64_t kept = 0;
  if (rights == Rights::kNone) return kept;
  for (const container::Right& right : container::kRights) kept |= std::uint64_t{1} << right.number;
  return kept;
}

Failure DropRights(std::uint64_t kept) {
  for (int number = 0; prctl(PR_CAPBSET_READ, number) >= 0; ++number) {
    if ((kept >> number & 1) == 0 && prctl(PR_CAPBSET_DROP, number) != 0 && errno != EPERM)
      return ConfinementFailure{"drop a right", errno};
  }
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  if (syscall(SYS_capget, &header, sets.data()) != 0) return ConfinementFailure{"read the rights", errno};
  sets[0].permitted &= static_cast<std::uint32_t>(kept);
  sets[1].permitted &= static_cast<std::uint32_t>(kept >> 32);
  for (__user_cap_data_struct& half : sets) {
    half.effective = half.permitted;
    half.inheritable = 0;
  }
  if (syscall(SYS_capset, &header, sets.data()) != 0) return ConfinementFailure{"drop rights", errno};
  return {};
}

Failure InstallFilter() {
  std::vector<sock_filter> filter = container::MakeSeccompFilter();
  const sock_fprog program{.len = static_cast<unsigned short>(filter.size()), .filter = filter.data()};
  // As in runc: the kernel's default protection against speculative store bypass costs more than it gives
  // here.
  for (const unsigned long flags : {SECCOMP_FILTER_FLAG_SPEC_ALLOW, 0UL}) {
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0) return {};
    if (errno != EINVAL) break;
  }
  return ConfinementFailure{"install the system call filter", errno};
}

}  // namespace

std::optional<ConfinementFailure> Confine(Rights rights) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return ConfinementFailure{"set no_new_privs", errno};
  if (Failure failure = DropRights(Kept(rights))) return failure;
  return InstallFilter();
}

}  // namespace trainyard::replica
