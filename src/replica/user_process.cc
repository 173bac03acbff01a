#include "replica/user_process.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

#include "async/file.h"
#include "cluster/device_variables.h"
#include "cluster/tf_config.h"
#include "node/inventory.h"
#include "replica/descendants.h"
#include "replica/google_channels.h"
#include "replica/hosts_file.h"
#include "replica/user_environment.h"

namespace trainyard::replica {

namespace {

/// How much of its output a process can be ahead of us.
constexpr int kPipeBytes = 256 << 10;
constexpr std::size_t kReadBytes = 64 << 10;
/// Devices, and the cgroups of other replicas.
constexpr const char* kKernelSettings = "/sys";

struct Pipes {
  std::array<UniqueFd, kStreamCount> ours;
  std::array<UniqueFd, kStreamCount> theirs;
};

Result<Pipes> OpenPipes() {
  Pipes pipes;
  for (std::size_t i = 0; i < kStreamCount; ++i) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::unexpected(ErrnoError(errno, "pipe"));
    pipes.ours[i].Reset(ends[0]);
    pipes.theirs[i].Reset(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fcntl(ends[0], F_SETPIPE_SZ, kPipeBytes);  // best effort
  }
  return pipes;
}

/// Without links, as mounts need it.
std::string RealPath(const std::string& path) {
  std::array<char, PATH_MAX> real{};
  return realpath(path.c_str(), real.data()) != nullptr ? real.data() : path;
}

int CpuCount() {
  cpu_set_t cpus;
  return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? std::max(1, CPU_COUNT(&cpus)) : 1;
}

/// Accelerators that are not this replica's. A declared one may be any of the machine's files of its kind.
std::vector<std::string> ForbiddenDevices(const v1::Devices& own) {
  const auto is_file = [](std::string_view file) { return file.starts_with("/dev/nvidia"); };
  const bool has_gpu_files = std::ranges::any_of(own.device_files(), is_file);
  const bool has_tpu_files = std::ranges::any_of(own.device_files(), std::not_fn(is_file));
  std::vector<std::string> forbidden;
  for (const std::string& file : node::AcceleratorFiles()) {
    const bool is_gpu = is_file(file);
    const bool declared =
        is_gpu ? !own.gpus().empty() && !has_gpu_files : !own.tpu_node_name().empty() && !has_tpu_files;
    if (!declared && std::ranges::find(own.device_files(), file) == own.device_files().end())
      forbidden.push_back(file);
  }
  return forbidden;
}

std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// Of the data directory (secrets, records, attempts of others) a replica sees its own folders, the
/// environments and the binds.
FileView MakeView(const UserProcess::Start& start, const Channels& channels) {
  const AttemptDir real{RealPath(start.dir.path)};
  FileView view{.tmp = real.Tmp(),
                .hosts = real.Hosts(),
                .hidden = FolderOf(FolderOf(real.path)),
                .kept = {real.Work(), real.Home()},
                .binds = ChannelBinds(start.manifest, channels),
                .forbidden = ForbiddenDevices(start.manifest.devices()),
                .shared_memory = true};
  const std::string environments = RealPath(start.manifest.places().environments_dir());
  if (!environments.empty() && access(environments.c_str(), F_OK) == 0)
    view.read_only.push_back(environments);
  if (access(kKernelSettings, F_OK) == 0) view.read_only.emplace_back(kKernelSettings);
  if (view.hidden.empty() || view.hidden == "/tmp") view.hidden.clear();
  return view;
}

std::vector<std::string> MakeVariables(const UserProcess::Start& start, bool fenced) {
  const v1::Cluster cluster = fenced ? start.cluster : WithoutHostNames(start.cluster);
  return UserEnvironment(
      {.base = {{"HOME", RealPath(start.dir.Home())},
                {"TMPDIR", fenced ? "/tmp" : RealPath(start.dir.Tmp())},
                {"HOSTNAME", start.manifest.host_name()},
                {"TRAINYARD_LOG_FD", std::to_string(kStructuredLogFd)}},
       .devices = cluster::DeviceVariables(start.manifest),
       .cluster = cluster::ReplicaVariables(start.manifest, cluster, CpuCount()),
       .environment = start.environment.variables,
       .manifest = {start.manifest.environment().begin(), start.manifest.environment().end()},
       .channels = ChannelVariables(start.manifest, FindChannels(start.manifest, fenced))});
}

std::vector<std::string> MakeCommand(const UserProcess::Start& start) {
  std::vector<std::string> command = ShownCommand(start.manifest);
  command.front() = start.environment.python;
  return command;
}

Status WriteHosts(const UserProcess::Start& start) {
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

std::string_view Missing(Fence fence) {
  switch (fence) {
    case Fence::kNamespaces: return "";
    case Fence::kUserNamespaces: return "";
    case Fence::kNoPidNamespace: return "the replica sees the processes of others";
    case Fence::kNone:
      return "the replica shares /tmp and processes with others, and hosts are named by address";
  }
  return "";
}

/// The cgroup, with a note of it for whoever has to clean up after a killed supervisor.
Result<Cgroup> MakeCgroup(const AttemptDir& dir, const std::string& attempt_id, std::int64_t memory_bytes) {
  TY_TRY(Cgroup cgroup,
         Cgroup::Create("trainyard-" + attempt_id + "-" + std::to_string(getpid()), memory_bytes));
  TY_TRY(const UniqueFd note, OpenFile(dir.Cgroup(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
  TY_RETURN_IF_ERROR(WriteAll(note.get(), cgroup.path()));
  return cgroup;
}

/// Nothing for a replica in the machine's own network.
Result<std::optional<ReplicaNetwork>> MakeNetwork(const UserProcess::Start& start) {
  const v1::Manifest& manifest = start.manifest;
  if (manifest.network() != v1::Manifest::ISOLATED) return std::nullopt;
  const auto url = manifest.environment().find("STORAGE_EMULATOR_HOST");
  TY_TRY(const int port, PortOfUrl(url != manifest.environment().end() ? url->second : ""));
  const std::string& server = manifest.places().server_socket();
  std::vector<ReplicaNetwork::Door> doors = {{.port = port, .socket = server}};
  if (manifest.has_google_front()) {
    doors.push_back({.port = 443, .socket = FrontTlsSocket(server)});
    doors.push_back({.port = 80, .socket = FrontPlainSocket(server)});
  }
  auto network = ReplicaNetwork::Create({.dir = start.dir,
                                         .job_uid = manifest.job_uid(),
                                         .address = manifest.address(),
                                         .doors = std::move(doors),
                                         .lock_fd = start.lock_fd});
  if (network) return std::optional(std::move(*network));
  return std::unexpected(FailedPrecondition("cannot make its network: " + network.error().message));
}

/// In a network of its own a replica has all the other namespaces as well, or does not run.
Result<Sandbox> StartInside(const ReplicaNetwork& network, SandboxPlan& plan,
                            const UserProcess::Start& start) {
  plan.fence = Fence::kNamespaces;
  plan.environment = MakeVariables(start, true);
  std::optional<Result<Sandbox>> started;
  TY_RETURN_IF_ERROR(network.Inside([&] { started.emplace(Sandbox::Start(plan)); }));
  return *std::move(started);
}

/// Tries fence after fence; the last one always holds.
Result<Sandbox> StartFenced(SandboxPlan& plan, const UserProcess::Start& start,
                            std::vector<std::string>& degraded) {
  std::string reason;
  Fence fence = start.best_fence;
  if (fence == Fence::kNamespaces && geteuid() != 0) fence = Fence::kUserNamespaces;
  for (;; fence = static_cast<Fence>(std::to_underlying(fence) + 1)) {
    plan.fence = fence;
    plan.environment = MakeVariables(start, fence != Fence::kNone);
    if (!Missing(fence).empty()) {
      const std::string why = reason.empty() ? "it was asked for" : reason;
      degraded.push_back("This machine lacks some isolation (" + why + "): " + std::string(Missing(fence)) +
                         ".");
    }
    if (fence == Fence::kNone && !plan.view.forbidden.empty()) {
      degraded.push_back(
          "The replica can open accelerators that are not its own: only CUDA_VISIBLE_DEVICES "
          "keeps it from them.");
    }
    Result<Sandbox> sandbox = Sandbox::Start(plan);
    if (sandbox || sandbox.error().code != Code::kPermissionDenied || fence == Fence::kNone) return sandbox;
    if (!Missing(fence).empty()) degraded.pop_back();
    reason = sandbox.error().message;
  }
}

}  // namespace

std::vector<std::string> ShownCommand(const v1::Manifest& manifest) {
  std::vector<std::string> command = {"python3", "-m", manifest.program().python_module()};
  command.insert(command.end(), manifest.program().args().begin(), manifest.program().args().end());
  return command;
}

Status UserProcess::MakeFolders(const AttemptDir& dir) {
  TY_RETURN_IF_ERROR(MakeFolder(dir.Work(), 0755));
  TY_RETURN_IF_ERROR(MakeFolder(dir.Home(), 0700));
  return MakeFolder(dir.Tmp(), 01777);
}

Result<UserProcess> UserProcess::Launch(const Start& start, std::vector<std::string>& degraded) {
  TY_RETURN_IF_ERROR(MakeFolders(start.dir));
  TY_RETURN_IF_ERROR(WriteHosts(start));
  TY_TRY(Pipes pipes, OpenPipes());
  Cgroup cgroup;
  if (const std::int64_t memory_bytes = start.manifest.limits().memory_bytes(); memory_bytes > 0) {
    auto made = MakeCgroup(start.dir, start.manifest.attempt_id(), memory_bytes);
    if (made) {
      cgroup = std::move(*made);
    } else {
      degraded.push_back("This machine gives the replica no memory cgroup (" + made.error().message +
                         "): its memory limit is not enforced.");
    }
  }
  SandboxPlan plan{.argv = MakeCommand(start),
                   .directory = RealPath(start.dir.Work()),
                   .view = MakeView(start, FindChannels(start.manifest, true)),
                   .host_name = start.manifest.host_name(),
                   .stdout_fd = pipes.theirs[std::to_underlying(Stream::kStdout)].get(),
                   .stderr_fd = pipes.theirs[std::to_underlying(Stream::kStderr)].get(),
                   .structured_fd = pipes.theirs[std::to_underlying(Stream::kStructured)].get(),
                   .procs_fd = cgroup.procs_fd(),
                   .lock_fd = start.lock_fd};
  TY_TRY(std::optional<ReplicaNetwork> network, MakeNetwork(start));
  TY_TRY(Sandbox sandbox, network ? StartInside(*network, plan, start) : StartFenced(plan, start, degraded));
  const bool fenced = plan.fence != Fence::kNone;
  std::string missing = MissingChannels(start.manifest, fenced, FindChannels(start.manifest, fenced));
  if (!missing.empty()) degraded.push_back(std::move(missing));
  return UserProcess(std::move(cgroup), std::move(network), std::move(sandbox), std::move(pipes.ours));
}

Status UserProcess::CountMemory(const AttemptDir& dir, const std::string& attempt_id) {
  auto made = MakeCgroup(dir, attempt_id, 0);
  if (!made) return std::unexpected(std::move(made).error());
  cgroup_ = std::move(*made);
  // Twice: a process may be born between being looked for and its parent's joining.
  for (int round = 0; round < 2; ++round) {
    for (const pid_t pid : Descendants(getpid())) cgroup_.Join(pid);
  }
  return {};
}

int UserProcess::output_fd(Stream stream) const noexcept {
  return outputs_[std::to_underlying(stream)].get();
}

bool UserProcess::ReadOutput(Stream stream, std::string& bytes) {
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
