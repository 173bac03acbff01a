#include "programs/sandbox/sandbox_init.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/process/child_process.h"
#include "programs/sandbox/cgroups/kill_group.h"
#include "programs/sandbox/cgroups/proc_figures.h"
#include "programs/sandbox/cgroups/process_limit.h"
#include "programs/sandbox/confinement.h"
#include "programs/sandbox/namespaces/id_map.h"
#include "programs/sandbox/network/connect_doors.h"
#include "programs/sandbox/warm_program.h"

namespace trainyard::replica {

namespace {

/// The init process's own descriptors, after 0, 1 and 2.
enum InitFd {
  kControl = 3,
  kLock,
  kStructured,
  kResult,
  kUsers,
  kCgroup,
  kKillGroup,
  kMother,
  kNetworkOwner,
  kLastPid,
  kFirstProcs,
  kFirstFree = kFirstProcs + kCgroupsMax
};

void Report(const InitReport& report) {
  while (send(kControl, &report, sizeof(report), MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

void Report(InitReport::Kind kind, int value, const char* step = "") {
  InitReport report{.kind = kind, .value = value};
  std::strncpy(report.step, step, sizeof(report.step) - 1);
  Report(report);
}

/// Ends the whole tree.
[[noreturn]] void EndAll(const SandboxPlan& plan) {
  constexpr std::chrono::seconds kGroupMax{5};
  if (HasPidNamespace(plan.isolation)) {
    kill(-1, SIGKILL);  // in a PID namespace: all but us
    while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
  } else {
    // Processes that still live are killed one by one.
    if (plan.kill_group_fd >= 0)
      static_cast<void>(KillGroup("/proc/self/fd/" + std::to_string(kKillGroup), kGroupMax));
    KillDescendants();
  }
  _exit(0);  // only now is the lock free
}

/// Moves the plan's descriptors to their numbers and closes all others, including the supervisor's
/// connections.
void ArrangeDescriptors(const SandboxPlan& plan, int control) {
  // Opened while /proc/sys can be written. It is about the namespace of the process that writes it.
  const int last_pid = plan.mother < 0 ? -1 : open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  std::array<int, kFirstFree> wanted = {null,
                                        plan.stdout_fd,
                                        plan.stderr_fd,
                                        control,
                                        plan.lock_fd,
                                        plan.structured_fd,
                                        plan.result_fd,
                                        plan.users,
                                        plan.cgroup_directory,
                                        plan.kill_group_fd,
                                        plan.mother,
                                        plan.network_owner,
                                        last_pid};
  std::fill(wanted.begin() + kFirstProcs, wanted.end(), -1);
  std::copy_n(plan.procs_fds.begin(), std::min(plan.procs_fds.size(), kCgroupsMax),
              wanted.begin() + kFirstProcs);
  std::array<int, kFirstFree> moved{};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const int source = wanted[i] >= 0 ? wanted[i] : null;
    moved[i] = fcntl(source, F_DUPFD_CLOEXEC, kFirstFree + 1);
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) dup3(moved[i], static_cast<int>(i), i > 2 ? O_CLOEXEC : 0);
  close_range(kFirstFree, ~0U, 0);
}

bool WriteText(const char* path, const char* text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool written = write(file, text, std::strlen(text)) >= 0;
  const int error = errno;
  close(file);
  errno = error;
  return written;
}

bool MapUser(const InitStart& start) {
  // In /proc the files of a process that is not dumpable belong to root, as with a program that has file
  // capabilities.
  const int looked_into = prctl(PR_GET_DUMPABLE);
  prctl(PR_SET_DUMPABLE, 1);
  const auto map = [](unsigned inside, unsigned outside) {
    return std::to_string(inside) + " " + std::to_string(outside) + " 1";
  };
  const bool is_mapped = WriteText("/proc/self/setgroups", "deny") &&
                         WriteText("/proc/self/uid_map", map(start.uid, start.uid_outside).c_str()) &&
                         WriteText("/proc/self/gid_map", map(start.gid, start.gid_outside).c_str());
  const int error = errno;
  if (looked_into != 1) prctl(PR_SET_DUMPABLE, 0);
  errno = error;
  return is_mapped;
}

void IsolationFailed(const char* step, int error) {
  Report(InitReport::Kind::kIsolationFailed, error, step);
  _exit(0);
}

/// Waits for an order; ends everything if the supervisor sends another one, or is gone.
void Await(const SandboxPlan& plan, char wanted) {
  char order = 0;
  while (recv(kControl, &order, 1, 0) < 0 && errno == EINTR) {
  }
  if (order != wanted) EndAll(plan);
}

/// Waits until the supervisor has mapped the ids, and becomes root among them.
void AwaitIds(const SandboxPlan& plan) {
  Await(plan, kMappedOrder);
  if (setresgid(0, 0, 0) != 0 || setresuid(0, 0, 0) != 0) IsolationFailed("become root inside", errno);
}

bool LimitsNamespace(const SandboxPlan& plan) {
  return HasPidNamespace(plan.isolation) && CanLimitNamespace(plan.processes_max);
}

/// Not in addition to another limit: replicas whose programs become the same user would share this one.
bool LimitsItsUser(const SandboxPlan& plan) {
  return plan.processes_max > 0 && plan.procs_fds.empty() && !LimitsNamespace(plan);
}

/// @return the errno for which the plan's directory cannot be written; 0: it can be.
int SetUpIsolation(const SandboxPlan& plan, const InitStart& start) {
  if (plan.isolation == Isolation::kNone) return 0;
  if (HasUserNamespace(plan.isolation)) {
    if (plan.root_inside) AwaitIds(plan);
    if (!plan.root_inside && !MapUser(start)) IsolationFailed("map the user", errno);
  }
  if (!plan.host_name.empty() && sethostname(plan.host_name.data(), plan.host_name.size()) != 0) {
    IsolationFailed("sethostname", errno);
  }
  if (LimitsNamespace(plan) && !LimitNamespace(plan.processes_max)) {
    Report(InitReport::Kind::kProgramFailed, errno, "limit its processes");
    _exit(0);
  }
  FileView view = plan.view;
  view.proc = HasPidNamespace(plan.isolation);
  if (plan.users >= 0) view.users = kUsers;
  if (const auto failure = SetUpFileView(view)) IsolationFailed(failure->step, failure->error);
  if (plan.mounts) {
    if (const auto failure = plan.mounts()) IsolationFailed(failure->step, failure->error);
  }
  return plan.writable ? MakeWritable(*plan.writable, HasUserNamespace(plan.isolation)) : 0;
}

void ResetSignals() {
  for (int number = 1; number < NSIG; ++number) std::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool JoinKillGroup() {
  const int procs = openat(kKillGroup, "cgroup.procs", O_WRONLY | O_CLOEXEC);
  if (procs < 0) return false;
  const bool joined = write(procs, "0", 1) == 1;
  close(procs);
  return joined;
}

/// Runs in the program's process, up to its exec. Failures are reported through the pipe.
[[noreturn]] void RunProgram(const SandboxPlan& plan, char* const* argv, char* const* environment,
                             ConnectDoors& doors, int failed) {
  const auto fail = [failed](const char* step) {
    InitReport report{.kind = InitReport::Kind::kProgramFailed, .value = errno};
    std::strncpy(report.step, step, sizeof(report.step) - 1);
    [[maybe_unused]] const ssize_t told = write(failed, &report, sizeof(report));
    _exit(127);
  };
  setsid();
  ResetSignals();
  umask(022);
  for (std::size_t i = 0; i < std::min(plan.procs_fds.size(), kCgroupsMax); ++i) {
    if (write(kFirstProcs + static_cast<int>(i), "0", 1) < 0) fail("join the cgroup");
  }
  if (plan.kill_group_fd >= 0 && !JoinKillGroup()) fail("join the group that is ended as a whole");
  if (plan.users >= 0) {
    if (const char* step = BecomeRootIn(kUsers)) fail(step);
  }
  if (!plan.directory.empty() && chdir(plan.directory.c_str()) != 0) fail("enter the working directory");
  if (LimitsItsUser(plan) && !LimitUser(plan.processes_max)) fail("limit its processes");
  if (plan.structured_fd >= 0) dup2(kStructured, kStructuredLogFd);
  if (plan.function) {
    if (plan.lock_fd >= 0 && plan.function_holds_lock) dup2(kLock, kLockFd);
    if (plan.result_fd >= 0) fcntl(kResult, F_DUPFD_CLOEXEC, kResultFd);
    close(failed);
    close_range(kControl, kFirstFree - 1, 0);
    _exit(plan.function());
  }
  doors.Install();  // before it loses its capabilities
  if (!plan.keeps_rights) {
    if (const auto failure = Confine()) {
      errno = failure->error;
      fail(failure->step);
    }
  }
  execve(argv[0], argv, environment);
  fail("exec");
  _exit(127);
}

/// Has the plan's warm interpreter become the program; -1: it has not, and never will.
pid_t ForkFromMother(const SandboxPlan& plan, const InitStart& start, const ConnectDoors& doors) {
  const bool can =
      plan.mother >= 0 && HasPidNamespace(plan.isolation) && !plan.function && !plan.keeps_rights;
  if (!can) return -1;
  std::vector<std::pair<std::string, int>> descriptors = {
      {"stdout", STDOUT_FILENO},
      {"stderr", STDERR_FILENO},
      {"structured", kStructured},
      {"doors", doors.asker()},
      {"users", plan.users < 0 ? -1 : kUsers},
      {"cgroup", plan.cgroup_directory < 0 ? -1 : kCgroup},
      {"owner", plan.network_owner < 0 ? -1 : kNetworkOwner}};
  for (std::size_t i = 0; i < std::min(plan.procs_fds.size(), kCgroupsMax); ++i)
    descriptors.emplace_back("procs", kFirstProcs + static_cast<int>(i));
  return StartWarm({.plan = plan,
                    .start = start,
                    .mother = kMother,
                    .last_pid = kLastPid,
                    .descriptors = std::move(descriptors),
                    .limits_user = LimitsItsUser(plan)});
}

/// Starts the program; returns its pid once it runs.
pid_t StartProgram(const SandboxPlan& plan, char* const* argv, char* const* environment,
                   ConnectDoors& doors) {
  std::array<int, 2> failed{};
  if (pipe2(failed.data(), O_CLOEXEC) != 0) IsolationFailed("pipe", errno);
  const pid_t program = ForkInGroup(plan.cgroup_directory < 0 ? -1 : kCgroup);
  if (program < 0) IsolationFailed("fork", errno);
  if (program == 0) RunProgram(plan, argv, environment, doors, failed[1]);
  close(failed[1]);
  InitReport failure;
  const bool has_failed = read(failed[0], &failure, sizeof(failure)) == sizeof(failure);
  close(failed[0]);
  if (has_failed) {
    Report(failure.kind, failure.value, failure.step);
    EndAll(plan);
  }
  return program;
}

/// Reaps ended processes; true if the program is among them.
bool ReapAll(pid_t program, int& wait_status) {
  bool ended = false;
  int status = 0;
  for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid != program) continue;
    wait_status = status;
    ended = true;
  }
  return ended;
}

/// Takes one order; false when the supervisor has ended.
bool TakeOrder(pid_t program, int stop_signal) {
  char order = 0;
  const ssize_t size = recv(kControl, &order, 1, MSG_DONTWAIT);
  if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) return false;
  if (size == 1 && order == kTerminateOrder) kill(-program, stop_signal);
  return true;
}

}  // namespace

bool HasPidNamespace(Isolation isolation) noexcept {
  return isolation == Isolation::kNamespaces || isolation == Isolation::kUserNamespaces;
}

bool HasUserNamespace(Isolation isolation) noexcept {
  return isolation == Isolation::kUserNamespaces || isolation == Isolation::kNoPidNamespace;
}

unsigned long IsolationFlags(Isolation isolation) noexcept {
  constexpr unsigned long kFiles = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC;
  switch (isolation) {
    case Isolation::kNamespaces: return kFiles | CLONE_NEWPID;
    case Isolation::kUserNamespaces: return kFiles | CLONE_NEWPID | CLONE_NEWUSER;
    case Isolation::kNoPidNamespace: return kFiles | CLONE_NEWUSER;
    case Isolation::kNone: return 0;
  }
  return 0;
}

void RunInit(const SandboxPlan& plan, const InitStart& start) {
  prctl(PR_SET_NAME, "trainyard-init");
  const bool has_to_enter = plan.network >= 0 && plan.network_owner < 0;
  const int refused = has_to_enter && setns(plan.network, CLONE_NEWNET) != 0 ? errno : 0;
  ArrangeDescriptors(plan, start.control);
  if (refused != 0) IsolationFailed("enter its network", refused);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  sigset_t child_ended;
  sigemptyset(&child_ended);
  sigaddset(&child_ended, SIGCHLD);
  const int signals = signalfd(-1, &child_ended, SFD_CLOEXEC | SFD_NONBLOCK);
  if (!HasPidNamespace(plan.isolation)) prctl(PR_SET_CHILD_SUBREAPER, 1);
  const int writable_error = SetUpIsolation(plan, start);
  Await(plan, kStartOrder);  // the supervisor has recorded this process, so that a server can find it
  const std::vector<ConnectDoor> wanted = plan.function ? std::vector<ConnectDoor>() : plan.connect_doors;
  std::optional<ConnectDoors> made(std::in_place, wanted);
  pid_t program = ForkFromMother(plan, start, *made);
  const bool is_warm = program > 0;
  if (!is_warm) {
    made.emplace(wanted);  // a process that was given up may have used the first ones
    program = StartProgram(plan, start.argv, start.environment, *made);
  }
  close(kMother);
  ConnectDoors& doors = *made;
  Report({.kind = InitReport::Kind::kRunning,
          .value = doors.Receive(),
          .writable_error = writable_error,
          .is_warm = is_warm});
  int wait_status = 0;
  for (;;) {
    std::vector<pollfd> ready = {{.fd = kControl, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
    doors.AddTo(ready);
    poll(ready.data(), ready.size(), -1);
    doors.Serve(ready);
    signalfd_siginfo ignored;
    while (read(signals, &ignored, sizeof(ignored)) > 0) {
    }
    if (ReapAll(program, wait_status)) {
      Report(InitReport::Kind::kEnded, wait_status);
      EndAll(plan);
    }
    if (ready[0].revents != 0 && !TakeOrder(program, plan.stop_signal)) EndAll(plan);
  }
}

}  // namespace trainyard::replica
