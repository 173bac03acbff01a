#include "replica/supervisor/user_process.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "programs/attempt/init_note.h"
#include "programs/runtimes/google_channels.h"
#include "programs/sandbox/cgroups/proc_figures.h"
#include "programs/sandbox/cgroups/process_limit.h"
#include "programs/sandbox/namespaces/hosts_file.h"
#include "programs/sandbox/namespaces/id_map.h"
#include "programs/sandbox/patience.h"
#include "programs/sandbox/sandbox_init.h"

namespace trainyard::replica {

namespace {

UniqueFd OpenDirectory(const std::string& path) {
  auto directory = OpenFile(path, O_RDONLY | O_DIRECTORY);
  return directory ? *std::move(directory) : UniqueFd();
}

/// Attempts of two supervisors have the same id if a test uses one directory twice.
std::string NameOf(const AttemptDir& dir, const std::string& attempt_id) {
  return InstallationName(FolderOf(dir.path)) + "-" + attempt_id + "-" + std::to_string(getpid());
}

/// How much output a process can write before it is read.
constexpr int kPipeBytes = 256 << 10;
constexpr std::size_t kReadBytes = 64 << 10;

struct Pipes {
  std::array<UniqueFd, kStreamCount> ours;
  std::array<UniqueFd, kStreamCount> theirs;
};

/// A program that is being launched. Each step of the launch makes one of the members, and the member's
/// destructor undoes the step: whichever step fails, those before it are undone in reverse order.
struct LaunchState {
  Program& program;
  const ProgramStart& start;
  Pipes pipes{};
  Cgroup cgroup{};
  EndGroup end_group{};
  std::optional<ReplicaNetwork> network{};  ///< absent: the machine's
  UniqueFd users{};                         ///< a user namespace; none: the program runs as this user
  Isolation isolation = Isolation::kNone;
  std::optional<Sandbox> sandbox{};
};

Status OpenPipes(LaunchState& launching) {
  Pipes& pipes = launching.pipes;
  for (std::size_t i = 0; i < kStreamCount; ++i) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::unexpected(ErrnoError(errno, "pipe"));
    pipes.ours[i].Reset(ends[0]);
    pipes.theirs[i].Reset(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fcntl(ends[0], F_SETPIPE_SZ, kPipeBytes);  // best effort
  }
  return {};
}

Status WriteHosts(LaunchState& launching) {
  const ProgramStart& start = launching.start;
  const auto machine = ReadFile("/etc/hosts");
  TY_TRY(const UniqueFd file, OpenFile(start.dir.Hosts(), O_WRONLY | O_CREAT | O_TRUNC, 0644));
  return WriteAll(file.get(), HostsFile(machine ? *machine : "127.0.0.1\tlocalhost\n", start.cluster,
                                        start.manifest.google_front()));
}

Status MakeFolder(const std::string& path, mode_t mode) {
  if (mkdir(path.c_str(), mode) != 0 && errno != EEXIST)
    return std::unexpected(ErrnoError(errno, "mkdir " + path));
  if (chmod(path.c_str(), mode) != 0) return std::unexpected(ErrnoError(errno, "chmod " + path));
  return {};
}

std::string_view Missing(Isolation isolation) {
  switch (isolation) {
    case Isolation::kNamespaces: return "";
    case Isolation::kUserNamespaces: return "";
    case Isolation::kNoPidNamespace: return "the replica can see other users' processes";
    case Isolation::kNone:
      return "the replica shares /tmp and processes with others, and replicas are reached by address instead "
             "of host name";
  }
  return "";
}

/// The limits that need a cgroup. With version 2 a cgroup is cheap, and sets all limits. With version 1 it is
/// not: for the number of processes the kernel's limit of a namespace suffices, unless its lowest possible
/// value is too high, or it does not apply to root.
CgroupLimits CgroupLimitsOf(const v1::Manifest& manifest, Isolation isolation) {
  constexpr std::int64_t kFewPids = 301;
  const v1::Manifest::Limits& limits = manifest.limits();
  CgroupLimits wanted{limits.memory_bytes(), limits.cpus(), 0};
  const bool needs_it = wanted.any() || geteuid() == 0 || limits.pids() < kFewPids;
  const bool is_cheap = manifest.places().cgroup_version() == 2;
  const bool by_namespace = HasPidNamespace(isolation) && CanLimitNamespace(limits.pids());
  if (is_cheap || (needs_it && !by_namespace)) wanted.pids = limits.pids();
  return wanted;
}

/// No cgroup for a replica whose limits need none, or if this machine has none: the server has logged that
/// when it started.
Status MakeLimits(LaunchState& launching) {
  const v1::Manifest& manifest = launching.start.manifest;
  const CgroupLimits wanted = CgroupLimitsOf(manifest, launching.start.required.isolation);
  if (!wanted.any()) return {};
  TY_TRY(launching.cgroup, MakeReplicaCgroup(manifest, wanted));
  return {};
}

Status MakeNetwork(LaunchState& launching) {
  const ProgramStart& start = launching.start;
  const v1::Manifest& manifest = start.manifest;
  if (manifest.network() != v1::Manifest::ISOLATED) return {};
  std::vector<ReplicaNetwork::Door> doors;
  if (const int port = manifest.places().relay_port(); port != 0)
    doors.push_back({.port = port, .socket = manifest.places().replica_socket()});
  if (manifest.has_google_front()) {
    doors.push_back({.port = 443, .socket = manifest.google_front().tls_socket()});
    doors.push_back({.port = 80, .socket = manifest.google_front().plain_socket()});
  }
  auto network = ReplicaNetwork::Create({.dir = start.dir,
                                         .job_uid = manifest.job_uid(),
                                         .address = manifest.address(),
                                         .doors = std::move(doors),
                                         .lock_fd = start.lock_fd});
  if (network) {
    launching.network.emplace(std::move(*network));
    return {};
  }
  Error error = std::move(network).error();
  if (!IsShortage(error)) error.code = Code::kFailedPrecondition;
  error.message = "cannot make its network: " + error.message;
  return std::unexpected(std::move(error));
}

Status MakeUsers(LaunchState& launching) {
  const v1::Manifest& manifest = launching.start.manifest;
  if (!manifest.has_users()) return {};
  if (manifest.program().has_container())
    return std::unexpected(
        FailedPrecondition("containers do not support separate users for jobs (--job-users)"));
  TY_TRY(launching.users, MakeUserNamespace({manifest.users().first(), manifest.users().count()}));
  return {};
}

/// Gives the program's own files to its root: its directories, and its pipes, because they have names in
/// /proc.
Status GiveAway(LaunchState& launching) {
  const v1::Manifest& manifest = launching.start.manifest;
  if (!manifest.has_users()) return {};
  const uid_t root = manifest.users().first();
  const AttemptDir& dir = launching.start.dir;
  for (const std::string& folder : {dir.Work(), dir.Home(), dir.Tmp()}) {
    if (lchown(folder.c_str(), root, root) != 0)
      return std::unexpected(ErrnoError(errno, "give away " + folder));
  }
  for (const UniqueFd& pipe : launching.pipes.theirs) {
    if (fchown(pipe.get(), root, root) != 0)
      return std::unexpected(ErrnoError(errno, "change the owner of a pipe"));
  }
  return {};
}

Result<SandboxPlan> PlanFor(LaunchState& launching) {
  const ProgramStart& start = launching.start;
  TY_TRY(SandboxPlan plan, launching.program.Plan(start, launching.isolation));
  plan.isolation = launching.isolation;
  plan.host_name = start.manifest.host_name();
  // A group of version 2 also counts what it limits; if a namespace set the same limit, that would not be
  // counted.
  if (launching.cgroup.directory() < 0) plan.processes_max = start.manifest.limits().pids();
  const auto& pipes = launching.pipes.theirs;
  plan.stdout_fd = pipes[std::to_underlying(OutputStream::kStdout)].get();
  plan.stderr_fd = pipes[std::to_underlying(OutputStream::kStderr)].get();
  plan.structured_fd = pipes[std::to_underlying(OutputStream::kStructured)].get();
  plan.procs_fds = launching.cgroup.ProcsFds();
  plan.cgroup_directory = launching.cgroup.directory();
  plan.lock_fd = start.lock_fd;
  plan.users = launching.users.get();
  if (launching.network) {
    plan.network = launching.network->network();
    plan.network_owner = launching.network->owner();
  }
  if (plan.writable && start.manifest.has_users()) {
    const uid_t root = start.manifest.users().first();
    if (lchown(plan.writable->Upper().c_str(), root, root) != 0)
      return std::unexpected(ErrnoError(errno, "give away " + plan.writable->Upper()));
  }
  launching.end_group = Mark(start.dir, start.manifest.attempt_id(), launching.cgroup, plan, false);
  return plan;
}

/// With a network namespace or user ids of its own, a replica also has all other namespaces, or does not run;
/// otherwise it has the isolation that the machine was found to support, or does not run.
Status StartIsolated(LaunchState& launching) {
  const RequiredIsolation& required = launching.start.required;
  launching.isolation = launching.network || launching.users ? BestIsolation() : required.isolation;
  if (launching.isolation > launching.program.WeakestIsolation()) {
    return std::unexpected(FailedPrecondition(
        "this machine does not allow the namespaces that a container needs (" + required.reason + ")"));
  }
  TY_TRY(SandboxPlan plan, PlanFor(launching));
  Result<Sandbox> sandbox = Sandbox::Start(plan);
  if (sandbox) {
    launching.sandbox.emplace(std::move(*sandbox));
    return {};
  }
  Error error = std::move(sandbox).error();
  if (IsShortage(error) || error.code == Code::kAborted) return std::unexpected(std::move(error));
  if (error.code != Code::kFailedPrecondition) {
    // What the kernel refuses stays refused; a missing directory, for example on a failed disk, may be there
    // at another try.
    error.code = error.code == Code::kPermissionDenied ? Code::kFailedPrecondition : Code::kAborted;
    error.message = "the program was not started, because it could not be isolated (" + error.message + ")";
  } else if (!plan.argv.empty()) {
    error.message = plan.argv.front() + ": " + error.message;
  }
  return std::unexpected(std::move(error));
}

constexpr std::array kLaunchSteps = {WriteHosts, OpenPipes, MakeLimits,   MakeNetwork,
                                     MakeUsers,  GiveAway,  StartIsolated};

}  // namespace

EndGroup Mark(const AttemptDir& dir, const std::string& attempt_id, const Cgroup& cgroup, SandboxPlan& plan,
              bool preparing) {
  EndGroup group;
  std::vector<std::string> noted;
  if (!HasPidNamespace(plan.isolation)) {
    const bool own_ends =
        !cgroup.path().empty() && access((cgroup.path() + "/cgroup.kill").c_str(), F_OK) == 0;
    if (own_ends) {
      group.directory = OpenDirectory(cgroup.path());
    } else if (auto made = FreezerGroup::Create(NameOf(dir, attempt_id))) {
      group.freezer = *std::move(made);
      group.directory = OpenDirectory(group.freezer.path());
      noted.push_back(group.freezer.path());
    }
    plan.kill_group_fd = group.directory.get();
  }
  plan.on_init = [dir, noted = std::move(noted), preparing](pid_t init) {
    return NoteInit(dir, init, noted, preparing);
  };
  return group;
}

Result<Cgroup> MakeReplicaCgroup(const v1::Manifest& manifest, const CgroupLimits& limits) {
  const v1::Manifest::Places& places = manifest.places();
  const AttemptDir dir{places.attempt_dir()};
  const std::string installation = InstallationName(FolderOf(dir.path));
  TY_TRY(Cgroup cgroup,
         Cgroup::Create({.version = places.cgroup_version(), .group = places.cgroup()},
                        installation + "-" + manifest.attempt_id() + "-" + std::to_string(getpid()), limits));
  TY_TRY(const UniqueFd note, OpenFile(dir.Cgroup(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
  TY_RETURN_IF_ERROR(WriteAll(note.get(), cgroup.Note()));
  return cgroup;
}

Status UserProcess::MakeFolders(const AttemptDir& dir) {
  TY_RETURN_IF_ERROR(MakeFolder(dir.Work(), 0755));
  TY_RETURN_IF_ERROR(MakeFolder(dir.Home(), 0700));
  // The user of the program's container has the group of this folder.
  if (!dir.shared.empty()) TY_RETURN_IF_ERROR(MakeFolder(dir.shared, 02770));
  return MakeFolder(dir.Tmp(), 01777);
}

Result<UserProcess> UserProcess::Launch(Program& program, const ProgramStart& start,
                                        std::vector<std::string>& degraded) {
  LaunchState launching{.program = program, .start = start};
  for (const auto step : kLaunchSteps) TY_RETURN_IF_ERROR(step(launching));
  const std::string_view missing = program.is_elsewhere() ? "" : Missing(launching.isolation);
  // A pod is what isolates its replica: nothing of anybody else is in it.
  if (!missing.empty() && !start.manifest.google_front().has_names()) {
    degraded.push_back("This machine lacks some isolation (" + start.required.reason +
                       "): " + std::string(missing) + ".");
  }
  if (const int error = launching.sandbox->doors_error(); error != 0) {
    degraded.push_back(
        "TensorFlow's gs://, gsutil and others do not work here: the replica's connections could not be "
        "redirected to the server (seccomp: " +
        std::string(std::strerror(error)) + ").");
  }
  if (const int error = launching.sandbox->writable_error(); error != 0) {
    degraded.push_back(
        "The program cannot write beside its own modules: its packages are read-only here (overlay: " +
        std::string(std::strerror(error)) + ").");
  }
  for (std::string& line : program.Lacks(start, launching.isolation)) degraded.push_back(std::move(line));
  return UserProcess(std::move(launching.cgroup), std::move(launching.end_group),
                     std::move(launching.network), *std::move(launching.sandbox),
                     std::move(launching.pipes.ours));
}

Status UserProcess::CountMemory(const v1::Manifest& manifest) {
  auto made = MakeReplicaCgroup(manifest, {});
  if (!made) return std::unexpected(std::move(made).error());
  if (!made->counts_memory())
    return std::unexpected(FailedPrecondition("this machine does not measure memory use"));
  cgroup_ = std::move(*made);
  // Twice: a process may be started between listing the processes and its parent's joining.
  for (int round = 0; round < 2; ++round) {
    for (const pid_t pid : Descendants(getpid())) cgroup_.Join(pid);
  }
  return {};
}

int UserProcess::output_fd(OutputStream stream) const noexcept {
  return outputs_[std::to_underlying(stream)].get();
}

bool UserProcess::ReadOutput(OutputStream stream, std::string& bytes) {
  UniqueFd& output = outputs_[std::to_underlying(stream)];
  bytes.resize(kReadBytes);
  const ssize_t size = read(output.get(), bytes.data(), bytes.size());
  bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  if (size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR))) return true;
  output.Reset();
  return false;
}

bool UserProcess::output_ended() const noexcept {
  return std::ranges::none_of(outputs_, [](const UniqueFd& output) { return static_cast<bool>(output); });
}

}  // namespace trainyard::replica
