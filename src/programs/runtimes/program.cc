#include "programs/runtimes/program.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/async/file.h"
#include "programs/interpreters/warm_mother.h"
#include "programs/lines/task_lines.h"
#include "programs/runtimes/container_program.h"
#include "programs/runtimes/google_channels.h"
#include "programs/runtimes/inside_tools.h"
#include "programs/runtimes/pod_program.h"
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
  [[nodiscard]] std::string WarmLine() const override { return mother_ ? mother_->line : std::string(); }
  void CleanUp(const ProgramStart& start) const override {
    if (!manifest_.program().built_in_algorithm())  // their Python has other variables than a mother's
      LearnModules(start.dir, environment_, channels_);
  }

 private:
  const v1::Manifest& manifest_;
  environment::Environment environment_;
  std::optional<WarmMother> mother_;  ///< of the last plan
  Variables channels_;                ///< of the last plan: CommonChannelVariables
};

/// Read-only, since it has settings of devices and the cgroups of other replicas.
constexpr const char* kKernelSettings = "/sys";

/// Makes the replica's view of the files: of the data directory (which has secrets, records and other
/// attempts) it only sees its own directories, the environments and the binds.
FileView MakeView(const ProgramStart& start, const Channels& channels, const std::string& tools) {
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
    const auto has_file = [](const std::string& path) { return access(path.c_str(), F_OK) == 0; };
    std::ranges::move(StorageToolBinds(tools, false, has_file), std::back_inserter(view.binds));
  }
  if (access(kKernelSettings, F_OK) == 0) view.read_only.emplace_back(kKernelSettings);
  // A separate user cannot pass through a directory that only its owner may enter (/root), nor reach its
  // contents.
  if (start.manifest.has_users()) view.hidden = OutermostClosedFolder(view.hidden);
  if (view.hidden.empty() || view.hidden == "/tmp") view.hidden.clear();
  return view;
}

std::vector<std::string> MakeVariables(const ProgramStart& start, Variables environment,
                                       const Channels& channels, bool has_view) {
  const v1::Cluster cluster = has_view ? start.cluster : WithoutHostNames(start.cluster);
  Variables of_cluster = cluster::ReplicaVariables(start.manifest, cluster, CpuCount());
  const auto metric_file = of_cluster.find("CLOUD_ML_HP_METRIC_FILE");
  if (metric_file != of_cluster.end() && !has_view)  // its /tmp is shared with everybody
    metric_file->second.replace(0, std::string_view("/tmp").size(), RealPath(start.dir.Tmp()));
  const bool is_alone = has_view && HasGpuFiles(start.manifest.devices());
  const auto sight = is_alone ? cluster::Sight::kOwn : cluster::Sight::kAll;
  return UserEnvironment(
      {.base = {{"HOME", RealPath(start.dir.Home())},
                {"TMPDIR", has_view ? "/tmp" : RealPath(start.dir.Tmp())},
                {"HOSTNAME", start.manifest.host_name()},
                {"TRAINYARD_LOG_FD", std::to_string(kStructuredLogFd)}},
       .devices = cluster::DeviceVariables(start.manifest, sight),
       .cluster = std::move(of_cluster),
       .environment = std::move(environment),
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
  Variables variables = environment_.variables;
  InsideTools tools;
  if (channels.files) {
    TY_TRY(tools, FindInsideTools(start.manifest.places().environments_dir()));
    TY_RETURN_IF_ERROR(MakeBucketPlaces(start.manifest));
    std::string& path = variables["PATH"];
    // Our tools come first in PATH: every machine has an umount, and ours passes other mounts on to it.
    path = tools.storage + (path.empty() ? "" : ":") + path;
  }
  std::vector<std::string> command = Shown();
  command.front() = environment_.python;
  std::optional<WritableFolder> writable;
  if (has_view && !environment_.layer.empty()) {
    writable = WritableFolder{.folder = RealPath(environment_.layer),
                              .changes = AttemptDir{RealPath(start.dir.path)}.Installed()};
    TY_RETURN_IF_ERROR(MakeChangeFolders(*writable));
  }
  FileView view = has_view ? MakeView(start, channels, tools.storage) : FileView();
  if (writable) view.kept.push_back(writable->changes);
  std::vector<std::string> variables_of_program =
      MakeVariables(start, std::move(variables), channels, has_view);
  channels_ = CommonChannelVariables(start.manifest, channels);
  mother_ = FindWarmMother(start.dir, environment_, variables_of_program);
  return SandboxPlan{.argv = std::move(command),
                     .environment = std::move(variables_of_program),
                     .directory = RealPath(start.dir.Work()),
                     .view = std::move(view),
                     .writable = std::move(writable),
                     .connect_doors = channels.names ? FrontDoors(start.manifest.google_front())
                                                     : std::vector<ConnectDoor>(),
                     .mother = mother_ ? mother_->connection.get() : -1};
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
  if (const auto* pod = std::get_if<PodImage>(&prepared)) return PodProgram::Make(manifest, pod->config);
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
