#include "programs/runtimes/program.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/async/file.h"
#include "programs/lines/task_lines.h"
#include "programs/runtimes/container_program.h"
#include "programs/runtimes/google_channels.h"
#include "programs/runtimes/inside_tools.h"
#include "programs/sandbox/namespaces/device_files.h"
#include "programs/sandbox/namespaces/hosts_file.h"
#include "programs/sandbox/namespaces/id_map.h"
#include "programs/sandbox/namespaces/namespace_check.h"
#include "rules/cluster/device_variables.h"
#include "rules/cluster/tf_config.h"

namespace trainyard::replica {

namespace {

constexpr const char* kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// `python3 -m MODULE ARGS` in the Python of a runtime version, in the machine's own files.
class ModuleProgram final : public Program {
 public:
  /// The manifest outlives it.
  ModuleProgram(const v1::Manifest& manifest, environment::Environment environment)
      : manifest_(manifest), environment_(std::move(environment)) {}

  [[nodiscard]] std::vector<std::string> Shown() const override;
  [[nodiscard]] std::vector<std::string> Announcement() const override;
  [[nodiscard]] Result<SandboxPlan> Plan(const ProgramStart& start, Isolation isolation) override;
  [[nodiscard]] std::vector<std::string> Lacks(const ProgramStart& start, Isolation isolation) const override;

 private:
  const v1::Manifest& manifest_;
  environment::Environment environment_;
};

/// Read-only, since it has settings of devices and the cgroups of other replicas.
constexpr const char* kKernelSettings = "/sys";

std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// Makes the replica's view of the files: of the data directory (which has secrets, records and other
/// attempts) it only sees its own directories, the environments and the binds.
FileView MakeView(const ProgramStart& start, const Channels& channels) {
  const AttemptDir real{RealPath(start.dir.path)};
  FileView view{.added = AddedFolders(channels),
                .tmp = real.Tmp(),
                .hosts = real.Hosts(),
                .hidden = FolderOf(FolderOf(real.path)),
                .kept = {real.Work(), real.Home()},
                .binds = ChannelBinds(start.manifest, channels),
                .forbidden = ForbiddenDevices(start.manifest.devices()),
                .emptied = {kServiceRunFolder},
                .shared_memory = true};
  const auto& hidden_dirs = start.manifest.places().hidden_dirs();
  view.emptied.insert(view.emptied.end(), hidden_dirs.begin(), hidden_dirs.end());
  const std::string environments = RealPath(start.manifest.places().environments_dir());
  if (!environments.empty() && access(environments.c_str(), F_OK) == 0) {
    if (start.manifest.has_users())
      view.binds.push_back({.from = environments, .to = environments, .read_only = true});
    else
      view.read_only.push_back(environments);
  }
  if (channels.files) {
    view.kept.push_back(real.Tools());
    view.read_only.push_back(real.Tools());
    const auto has_file = [](const std::string& path) { return access(path.c_str(), F_OK) == 0; };
    std::ranges::move(StorageToolBinds(real.Tools(), false, has_file), std::back_inserter(view.binds));
  }
  if (access(kKernelSettings, F_OK) == 0) view.read_only.emplace_back(kKernelSettings);
  // A separate user cannot pass through a directory that only its owner may enter (/root), nor reach its
  // contents.
  if (start.manifest.has_users()) view.hidden = OutermostClosedFolder(view.hidden);
  if (view.hidden.empty() || view.hidden == "/tmp") view.hidden.clear();
  return view;
}

std::vector<std::string> MakeVariables(const ProgramStart& start, const Variables& environment,
                                       const Channels& channels, bool has_view) {
  const v1::Cluster cluster = has_view ? start.cluster : WithoutHostNames(start.cluster);
  Variables of_cluster = cluster::ReplicaVariables(start.manifest, cluster, CpuCount());
  const auto metric_file = of_cluster.find("CLOUD_ML_HP_METRIC_FILE");
  if (metric_file != of_cluster.end() && !has_view)  // its /tmp is shared with everybody
    metric_file->second.replace(0, std::string_view("/tmp").size(), RealPath(start.dir.Tmp()));
  Variables of_environment = environment;
  if (channels.files) {
    std::string& path = of_environment["PATH"];
    // Our tools come first in PATH: every machine has an umount, and ours passes other mounts on to it.
    path = RealPath(start.dir.Tools()) + (path.empty() ? "" : ":") + path;
  }
  return UserEnvironment(
      {.base = {{"HOME", RealPath(start.dir.Home())},
                {"TMPDIR", has_view ? "/tmp" : RealPath(start.dir.Tmp())},
                {"HOSTNAME", start.manifest.host_name()},
                {"TRAINYARD_LOG_FD", std::to_string(kStructuredLogFd)}},
       .devices = cluster::DeviceVariables(start.manifest),
       .cluster = std::move(of_cluster),
       .environment = std::move(of_environment),
       .manifest = {start.manifest.environment().begin(), start.manifest.environment().end()},
       .channels = ChannelVariables(start.manifest, channels)});
}

std::vector<std::string> ModuleProgram::Shown() const {
  const v1::Manifest::Program& program = manifest_.program();
  std::vector<std::string> command = {"python3", "-m", program.python_module()};
  command.insert(command.end(), program.args().begin(), program.args().end());
  return command;
}

std::vector<std::string> ModuleProgram::Announcement() const {
  return {RunningModuleLine(manifest_.program().python_module())};
}

Result<SandboxPlan> ModuleProgram::Plan(const ProgramStart& start, Isolation isolation) {
  const bool has_view = isolation != Isolation::kNone;
  const Channels channels = FindChannels(start.manifest, has_view);
  if (channels.files) {
    TY_RETURN_IF_ERROR(WriteStorageTools({RealPath(start.dir.path)}));
    TY_RETURN_IF_ERROR(MakeBucketPlaces(start.manifest));
  }
  std::vector<std::string> command = Shown();
  command.front() = environment_.python;
  return SandboxPlan{.argv = std::move(command),
                     .environment = MakeVariables(start, environment_.variables, channels, has_view),
                     .directory = RealPath(start.dir.Work()),
                     .view = has_view ? MakeView(start, channels) : FileView(),
                     .connect_doors = channels.names ? FrontDoors(start.manifest.google_front())
                                                     : std::vector<ConnectDoor>()};
}

std::vector<std::string> ModuleProgram::Lacks(const ProgramStart& start, Isolation isolation) const {
  std::vector<std::string> lines;
  const bool has_view = isolation != Isolation::kNone;
  if (!has_view && !ForbiddenDevices(start.manifest.devices()).empty()) {
    lines.emplace_back(
        "The replica can open accelerators of others: this machine restricts it by CUDA_VISIBLE_DEVICES "
        "only.");
  }
  const std::string advice = has_view ? std::string() : NamespaceAdvice(ReadNamespaceSettings());
  std::string channels =
      MissingChannels(start.manifest, has_view, FindChannels(start.manifest, has_view), advice);
  if (!channels.empty()) lines.push_back(std::move(channels));
  return lines;
}

}  // namespace

Result<std::unique_ptr<Program>> MakeProgram(const v1::Manifest& manifest, Prepared prepared) {
  if (auto* environment = std::get_if<environment::Environment>(&prepared))
    return std::make_unique<ModuleProgram>(manifest, std::move(*environment));
  if (auto* image = std::get_if<DaemonImage>(&prepared))
    return DaemonProgram::Make(manifest, std::move(*image));
  return ContainerProgram::Make(manifest, std::move(std::get<image::Image>(prepared)));
}

std::vector<std::string> UserEnvironment(const VariableSources& sources) {
  Variables all = {{"LANG", "C.UTF-8"}, {"PYTHONUNBUFFERED", "1"}};
  for (const Variables* source : {&sources.base, &sources.devices, &sources.cluster, &sources.environment}) {
    for (const auto& [name, value] : *source) all[name] = value;
  }
  const auto front = sources.environment.find("PATH");
  all["PATH"] =
      front == sources.environment.end() || front->second.empty() ? kPath : front->second + ":" + kPath;
  for (const Variables* source : {&sources.manifest, &sources.channels}) {
    for (const auto& [name, value] : *source) all[name] = value;
  }
  std::vector<std::string> variables;
  for (const auto& [name, value] : all) variables.push_back(name + "=" + value);
  return variables;
}

}  // namespace trainyard::replica
