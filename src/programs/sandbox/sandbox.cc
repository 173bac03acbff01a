#include "programs/sandbox/sandbox.h"

#include <linux/sched.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "programs/sandbox/cgroups/proc_figures.h"
#include "programs/sandbox/namespaces/id_map.h"
#include "programs/sandbox/namespaces/namespace_check.h"
#include "programs/sandbox/network/network_owner.h"
#include "programs/sandbox/patience.h"
#include "programs/sandbox/sandbox_init.h"

namespace trainyard::replica {

namespace {

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Receives a report; empty if the other side closed without a (further) report.
std::optional<InitReport> Receive(int control, int flags) {
  InitReport report;
  ssize_t size = 0;
  do {
    size = recv(control, &report, sizeof(report), flags);
    // ECONNRESET: it has ended with an unread order. That is reported once, before its reports.
  } while (size < 0 && (errno == EINTR || errno == ECONNRESET));
  if (size != sizeof(report)) return std::nullopt;
  return report;
}

void WaitForEnd(int pidfd) {
  pollfd ended{.fd = pidfd, .events = POLLIN, .revents = 0};
  while (poll(&ended, 1, -1) < 0 && errno == EINTR) {
  }
  siginfo_t info{};
  while (waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED) < 0 && errno == EINTR) {
  }
}

/// Whether the error means that the kernel does not make such namespaces or mounts, for us or at all.
bool IsRefusal(int error) {
  constexpr std::array kRefusals = {EPERM, EACCES, EINVAL, ENOSYS, EOPNOTSUPP, ENODEV, EUSERS};
  // namespaces(7): it also returns "no space" if a setting allows no namespaces of a kind at all.
  return std::ranges::find(kRefusals, error) != kRefusals.end() || (error == ENOSPC && AllowsNoNamespaces());
}

Error Refused(const std::string& step, int error) {
  Error named = ErrnoError(error, step);
  if (IsRefusal(error)) return {Code::kPermissionDenied, std::move(named.message), {}};
  return {IsShortage(named) ? Code::kUnavailable : Code::kInternal, std::move(named.message), {}};
}

/// The error if the program cannot be run.
Error CannotRun(const std::string& step, int error) {
  Error named = ErrnoError(error, step);
  if (!IsShortage(named)) named.code = Code::kFailedPrecondition;
  return named;
}

/// The init process, which is our child.
struct InitProcess {
  pid_t pid;
  UniqueFd pidfd;
};

Result<InitProcess> CloneInit(const SandboxPlan& plan, const InitStart& start) {
  // The plain system call: glibc's fork() takes no flags, and container runtimes often block clone3. This
  // process is single-threaded, so the child may use the heap.
  int pidfd = -1;
  const long pid = syscall(SYS_clone, IsolationFlags(plan.isolation) | CLONE_PIDFD | SIGCHLD, nullptr, &pidfd,
                           nullptr, nullptr);
  if (pid < 0) return std::unexpected(Refused("clone", errno));
  if (pid == 0) RunInit(plan, start);
  return InitProcess{static_cast<pid_t>(pid), UniqueFd(pidfd)};
}

/// The same, cloned from inside the network and the user namespace that owns it.
Result<InitProcess> CloneInitBelow(const SandboxPlan& plan, const InitStart& start) {
  const auto clone = [&]() -> Result<ChildReply> {
    TY_RETURN_IF_ERROR(EnterNetwork(plan.network));
    const long pid = syscall(SYS_clone, IsolationFlags(plan.isolation) | CLONE_PARENT | SIGCHLD, nullptr,
                             nullptr, nullptr, nullptr);
    if (pid < 0) return std::unexpected(Refused("clone", errno));
    if (pid == 0) RunInit(plan, start);
    return ChildReply{.process = static_cast<pid_t>(pid), .network = {}};
  };
  TY_TRY(const ChildReply cloned, RunInChild(plan.network_owner, clone));
  UniqueFd pidfd(static_cast<int>(
      syscall(SYS_pidfd_open, cloned.process, 0)));  // our child: its pid cannot have been reused
  if (!pidfd) return std::unexpected(ErrnoError(errno, "pidfd_open"));
  return InitProcess{cloned.process, std::move(pidfd)};
}

/// Gives the init process the ids among which it becomes root.
Status MapInit(const SandboxPlan& plan, pid_t init) {
  if (plan.network_owner < 0) return MapRoot(init);
  const auto map = [init]() -> Result<ChildReply> {
    TY_RETURN_IF_ERROR(MapSameIds(init));
    return ChildReply();
  };
  TY_TRY(const ChildReply done, RunInChild(plan.network_owner, map));
  return {};
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
  const bool below = plan.network_owner >= 0;  // where we are root
  const uid_t uid = getuid();
  const gid_t gid = getgid();
  const InitStart start{theirs.get(), argv.data(),     environment.data(), uid,
                        gid,          below ? 0 : uid, below ? 0 : gid};
  TY_TRY(InitProcess init, below ? CloneInitBelow(plan, start) : CloneInit(plan, start));
  theirs.Reset();
  Sandbox sandbox(plan.isolation, std::move(init.pidfd), std::move(ours));
  if (plan.root_inside && HasUserNamespace(plan.isolation)) {
    if (const Status mapped = MapInit(plan, init.pid); !mapped)
      return std::unexpected(Error{IsShortage(mapped.error()) ? Code::kUnavailable : Code::kPermissionDenied,
                                   mapped.error().message,
                                   {}});
    send(sandbox.control_.get(), &kMappedOrder, 1, MSG_NOSIGNAL);
  }
  // Meanwhile the init process sets up its namespaces.
  if (plan.on_init) TY_RETURN_IF_ERROR(plan.on_init(init.pid));
  send(sandbox.control_.get(), &kStartOrder, 1, MSG_NOSIGNAL);
  const std::optional<InitReport> report = Receive(sandbox.control_.get(), 0);
  if (report && report->kind == InitReport::Kind::kRunning) {
    sandbox.doors_error_ = report->value;
    sandbox.writable_error_ = report->writable_error;
    sandbox.is_warm_ = report->is_warm;
    return sandbox;
  }
  if (!report) return std::unexpected(Error{Code::kAborted, "the init process was killed", {}});
  if (report->kind == InitReport::Kind::kIsolationFailed)
    return std::unexpected(Refused(report->step, report->value));
  return std::unexpected(CannotRun(report->step, report->value));
}

Sandbox::~Sandbox() {
  if (!pidfd_) return;
  Kill();
  WaitForEnd(pidfd_.get());
}

void Sandbox::Terminate() noexcept { send(control_.get(), &kTerminateOrder, 1, MSG_NOSIGNAL | MSG_DONTWAIT); }

void Sandbox::Kill() noexcept {
  if (!HasPidNamespace(isolation_)) {
    shutdown(control_.get(), SHUT_WR);  // the init process ends everything, and may still report
  } else {
    syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
  }
}

Sandbox::Outcome Sandbox::Reap() {
  Outcome ended;
  if (const auto report = Receive(control_.get(), MSG_DONTWAIT);
      report && report->kind == InitReport::Kind::kEnded) {
    ended.wait_status = report->value;
  }
  WaitForEnd(pidfd_.get());
  pidfd_.Reset();
  control_.Reset();
  // If the init process was killed without a PID namespace, its children have become ours.
  if (!HasPidNamespace(isolation_)) KillDescendants();
  return ended;
}

}  // namespace trainyard::replica
