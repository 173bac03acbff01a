#pragma once

#include <fcntl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <initializer_list>

#include "base/async/unique_fd.h"
#include "base/result.h"

/// The kernel's calls about pipes, signals and children, with their results owned. Any thread.
namespace trainyard {

/// Both ends are closed on exec.
struct Pipe {
  UniqueFd read;
  UniqueFd write;
};
[[nodiscard]] inline Result<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::unexpected(ErrnoError(errno, "pipe"));
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

[[nodiscard]] inline sigset_t SignalSet(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : signals) sigaddset(&set, number);
  return set;
}

/// The signals as a descriptor; otherwise they are blocked from now on.
[[nodiscard]] inline UniqueFd OpenSignals(std::initializer_list<int> signals) {
  const sigset_t set = SignalSet(signals);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  return UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

/// Waits until the child has ended, and reaps it. Returns its status as of waitpid(2), or `unknown` if there
/// is no such child.
inline int WaitForChild(pid_t child, int unknown = 0) {
  int status = unknown;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// A descriptor of the process; empty: it is gone.
[[nodiscard]] inline UniqueFd OpenPidfd(pid_t process) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

}  // namespace trainyard
