#include "base/process/child_process.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <utility>

#include "base/process/kernel_calls.h"

namespace trainyard {

ChildProcess::ChildProcess(pid_t pid, bool leads_group) : pid_(pid), leads_group_(leads_group) {}

Status ChildProcess::OpenPidfd() {
  pidfd_ = trainyard::OpenPidfd(pid_);
  if (!pidfd_) return std::unexpected(ErrnoError(errno, "pidfd_open"));
  return {};
}

Result<ChildProcess> ChildProcess::Adopt(pid_t pid) {
  ChildProcess child(pid, false);
  TY_RETURN_IF_ERROR(child.OpenPidfd());  // else child's destructor ends it
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      leads_group_(other.leads_group_),
      ended_(other.ended_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this == &other) return *this;
  End();
  pid_ = std::exchange(other.pid_, -1);
  pidfd_ = std::move(other.pidfd_);
  leads_group_ = other.leads_group_;
  ended_ = other.ended_;
  return *this;
}

ChildProcess::~ChildProcess() { End(); }

void ChildProcess::End() noexcept {
  if (pid_ < 0 || ended_) return;
  ::kill(leads_group_ ? -pid_ : pid_, SIGKILL);
  WaitForChild(pid_);
  pid_ = -1;
}

UniqueFd ChildProcess::Detach() && {
  pid_ = -1;
  return std::move(pidfd_);
}

Result<std::optional<ExitStatus>> ChildProcess::Reap() {
  if (ended_) return ended_;
  siginfo_t info{};
  int failed = 0;
  do {
    failed = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG);
  } while (failed != 0 && errno == EINTR);
  if (failed != 0) return std::unexpected(ErrnoError(errno, "waitid"));
  if (info.si_pid == 0) return std::optional<ExitStatus>();
  ended_ =
      info.si_code == CLD_EXITED ? ExitStatus{.code = info.si_status} : ExitStatus{.signal = info.si_status};
  return ended_;
}

asio::awaitable<Result<ExitStatus>> ChildProcess::Wait() {
  const int duplicate = ::fcntl(pidfd_.get(), F_DUPFD_CLOEXEC, 0);
  if (duplicate < 0) co_return std::unexpected(ErrnoError(errno, "duplicate pidfd"));
  const auto executor = co_await asio::this_coro::executor;
  asio::posix::stream_descriptor watched(executor, duplicate);
  while (true) {
    TY_CO_TRY(const std::optional<ExitStatus> status, Reap());
    if (status) co_return *status;
    co_await watched.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
  }
}

Result<ExitStatus> ChildProcess::WaitFor(std::chrono::milliseconds wait_max) {
  const auto deadline = std::chrono::steady_clock::now() + wait_max;
  while (true) {
    TY_TRY(const std::optional<ExitStatus> status, Reap());
    if (status) return *status;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0)
      return std::unexpected(Error{Code::kDeadlineExceeded, "the program still runs", ""});
    pollfd watched{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
    ::poll(&watched, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 3'600'000)));
  }
}

Status ChildProcess::Kill(int signal) {
  if (pid_ < 0 || ended_) return std::unexpected(FailedPrecondition("the process has ended"));
  if (::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0) != 0) {
    return std::unexpected(ErrnoError(errno, "kill"));
  }
  return {};
}

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
