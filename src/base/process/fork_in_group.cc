#include "base/process/fork_in_group.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

namespace trainyard {

pid_t ForkInGroup(int cgroup) noexcept {
  if (cgroup < 0) return fork();
  clone_args arguments{};
  arguments.flags = CLONE_INTO_CGROUP;
  arguments.exit_signal = SIGCHLD;
  arguments.cgroup = static_cast<std::uint64_t>(cgroup);
  const long pid = syscall(SYS_clone3, &arguments, sizeof(arguments));
  if (pid >= 0 || (errno != ENOSYS && errno != EPERM)) return static_cast<pid_t>(pid);
  // A container's filter of system calls may not know clone3.
  const pid_t child = fork();
  if (child != 0) return child;
  const int procs = openat(cgroup, "cgroup.procs", O_WRONLY | O_CLOEXEC);
  if (procs < 0 || write(procs, "0", 1) < 0) _exit(127);
  close(procs);
  return child;
}

}  // namespace trainyard
