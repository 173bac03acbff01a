#include "sandbox/sandbox.h"

#include <linux/sched.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "sandbox/descendants.h"
#include "sandbox/id_map.h"
#include "sandbox/sandbox_init.h"

namespace trainyard::replica {

namespace {

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Nothing when the other side closed without a (further) report.
std::optional<InitReport> Receive(int control, int flags) {
  InitReport report;
  ssize_t size = 0;
  do {
    size = recv(control, &report, sizeof(report), flags);
  } while (size < 0 && errno == EINTR);
  if (size != sizeof(report)) return std::nullopt;
  return report;
}

bool TrackedByParentage(Isolation isolation) {
  return isolation == Isolation::kNone || isolation == Isolation::kNoPidNamespace;
}

void WaitForEnd(int pidfd) {
  pollfd ended{.fd = pidfd, .events = POLLIN, .revents = 0};
  while (poll(&ended, 1, -1) < 0 && errno == EINTR) {
  }
  siginfo_t info{};
  while (waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED) < 0 && errno == EINTR) {
  }
}

}  // namespace

Result<Sandbox> Sandbox::Start(const SandboxPlan& plan) {
  std::array<int, 2> pair{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0) {
    return std::unexpected(ErrnoError(errno, "socketpair"));
  }
  UniqueFd ours(pair[0]);
  UniqueFd theirs(pair[1]);
  const std::vector<char*> argv = Pointers(plan.argv);
  const std::vector<char*> environment = Pointers(plan.environment);
  const InitStart start{theirs.get(), argv.data(), environment.data(), getuid(), getgid()};
  // The plain system call: glibc's fork() takes no flags, and clone3 is what container runtimes often
  // refuse. We are single-threaded, so the child may go on using the heap.
  int pidfd = -1;
  const long pid = syscall(SYS_clone, IsolationFlags(plan.isolation) | CLONE_PIDFD | SIGCHLD, nullptr, &pidfd,
                           nullptr, nullptr);
  if (pid < 0)
    return std::unexpected(Error{Code::kPermissionDenied, std::string("clone: ") + std::strerror(errno), {}});
  if (pid == 0) RunInit(plan, start);
  theirs.Reset();
  Sandbox sandbox(plan.isolation, UniqueFd(pidfd), std::move(ours));
  if (plan.root_inside && HasUserNamespace(plan.isolation)) {
    if (const Status mapped = MapRoot(static_cast<pid_t>(pid)); !mapped)
      return std::unexpected(Error{Code::kPermissionDenied, mapped.error().message, {}});
    send(sandbox.control_.get(), &kMappedOrder, 1, MSG_NOSIGNAL);
  }
  const std::optional<InitReport> report = Receive(sandbox.control_.get(), 0);
  if (report && report->kind == InitReport::Kind::kRunning) {
    sandbox.doors_error_ = report->value;
    return sandbox;
  }
  if (!report) return std::unexpected(Internal("the init process was killed"));
  const std::string reason = std::string(report->step) + ": " + std::strerror(report->value);
  const bool isolation_failed = report->kind == InitReport::Kind::kIsolationFailed;
  return std::unexpected(
      Error{isolation_failed ? Code::kPermissionDenied : Code::kFailedPrecondition, reason, {}});
}

Sandbox::~Sandbox() {
  if (!pidfd_) return;
  Kill();
  WaitForEnd(pidfd_.get());
}

void Sandbox::Terminate() noexcept { send(control_.get(), &kTerminateOrder, 1, MSG_NOSIGNAL | MSG_DONTWAIT); }

void Sandbox::Kill() noexcept {
  if (TrackedByParentage(isolation_)) {
    shutdown(control_.get(), SHUT_WR);  // the init process takes everything with it, and may still report
  } else {
    syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
  }
}

Sandbox::Ended Sandbox::Reap() {
  Ended ended;
  if (const auto report = Receive(control_.get(), MSG_DONTWAIT);
      report && report->kind == InitReport::Kind::kEnded) {
    ended.wait_status = report->value;
  }
  WaitForEnd(pidfd_.get());
  pidfd_.Reset();
  control_.Reset();
  // Where the init process was killed without a PID namespace, its children have come to us.
  if (TrackedByParentage(isolation_)) KillDescendants();
  return ended;
}

}  // namespace trainyard::replica
