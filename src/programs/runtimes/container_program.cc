#include "programs/runtimes/container_program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "base/async/file.h"
#include "programs/lines/task_lines.h"
#include "programs/runtimes/daemon_api.h"
#include "programs/runtimes/daemon_container.h"
#include "programs/runtimes/image_packages.h"
#include "programs/runtimes/inside_tools.h"
#include "programs/runtimes/oci_container.h"
#include "programs/sandbox/namespaces/device_files.h"
#include "programs/sandbox/namespaces/disk_image.h"
#include "rules/cluster/device_variables.h"
#include "rules/cluster/role.h"
#include "rules/cluster/tf_config.h"
#include "rules/container/user.h"

namespace trainyard::replica {

namespace {

constexpr const char* kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr const char* kResolverSettings = "/etc/resolv.conf";
/// If the operator provides this device, the image's own gcsfuse can mount.
constexpr const char* kFuse = "/dev/fuse";

void Set(Variables& variables, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return;
  variables[text.substr(0, equals)] = text.substr(equals + 1);
}

/// Directories that a driver adds come before those of the image.
void SetDevice(Variables& variables, const std::string& text) {
  constexpr std::string_view kLibraries = "LD_LIBRARY_PATH=";
  const auto own = variables.find("LD_LIBRARY_PATH");
  if (text.starts_with(kLibraries) && own != variables.end() && !own->second.empty()) {
    own->second = text.substr(kLibraries.size()) + ":" + own->second;
  } else {
    Set(variables, text);
  }
}

std::string ContainerFolderOf(const ProgramStart& start) {
  return AttemptDir{RealPath(start.dir.path)}.Container();
}

/// Half of the memory, which is the kernel's default for a machine.
std::int64_t SharedMemoryBytes(const v1::Manifest::Limits& limits) {
  return limits.shared_memory_bytes() > 0 ? limits.shared_memory_bytes() : limits.memory_bytes() / 2;
}

Result<container::Spec> MakeSpec(const ProgramStart& start, const image::Image& image,
                                 std::vector<std::string> argv) {
  const container::ImageConfig& config = image.config;
  TY_TRY(container::User user,
         container::ResolveUser(config.user, ReadImageFile(image, "/etc/passwd"),
                                config.user.empty() ? "" : ReadImageFile(image, "/etc/group")));
  const Channels channels = ContainerChannels(start.manifest);
  DeviceFiles devices = FindDeviceFiles(start.manifest.devices());
  const bool brings_init = IsInit(argv.front());
  if (!brings_init) argv.insert(argv.begin(), kContainerInit);
  container::Spec spec{.args = std::move(argv),
                       .environment = ContainerVariables(start, config, user.home, channels, devices),
                       .working_dir = config.working_dir,
                       .user = std::move(user),
                       .binds = std::move(devices.binds),
                       .devices = std::move(devices.nodes),
                       .hooks = std::move(devices.hooks),
                       .shared_memory_bytes = SharedMemoryBytes(start.manifest.limits())};
  const auto image_has = [&image](const std::string& path) { return ImageHas(image, path); };
  TY_TRY(std::vector<FileView::Bind> binds, ContainerBinds(start, channels, image_has));
  for (FileView::Bind& bind : binds)
    spec.binds.push_back({std::move(bind.from), std::move(bind.to), bind.read_only, bind.data_only});
  if (!brings_init) {
    TY_TRY(InsideTools tools, FindInsideTools(start.manifest.places().environments_dir()));
    spec.binds.push_back({std::move(tools.init), kContainerInit, true, false});
  }
  return spec;
}

/// HOME is left to the daemon, which determines it from the image's files.
std::vector<std::string> MakeVariables(const ProgramStart& start, const container::ImageConfig& config,
                                       const Channels& channels, const DeviceFiles& devices) {
  std::vector<std::string> variables = ContainerVariables(start, config, "", channels, devices);
  std::erase(variables, "HOME=");
  return variables;
}

/// What the devices need where the daemon does not bring it: the hooks of a CDI file are not among that,
/// since only a daemon that knows CDI runs them.
DeviceFiles DaemonDevices(const v1::Devices& devices) {
  DeviceFiles files = FindDeviceFiles(devices, {.cdi_folders = {}});
  files.cdi_names = FindDeviceFiles(devices).cdi_names;
  return files;
}

/// A container cannot have more processors than the machine, and a daemon's default for shared memory (64 MB)
/// is too small for data loaders.
v1::Manifest::Limits MakeLimits(const v1::Manifest& manifest) {
  v1::Manifest::Limits limits = manifest.limits();
  limits.set_cpus(std::min(limits.cpus(), static_cast<double>(CpuCount())));
  if (limits.shared_memory_bytes() == 0)
    limits.set_shared_memory_bytes(sysconf(_SC_PHYS_PAGES) / 2 * sysconf(_SC_PAGESIZE));
  return limits;
}

}  // namespace

std::vector<std::string> ContainerVariables(const ProgramStart& start, const container::ImageConfig& image,
                                            const std::string& home, const Channels& channels,
                                            const DeviceFiles& devices) {
  const v1::Manifest& manifest = start.manifest;
  Variables all = {{"PATH", kPath}, {"HOME", home}, {"PYTHONUNBUFFERED", "1"}};
  for (const std::string& text : image.environment) Set(all, text);
  all["HOSTNAME"] = manifest.host_name();
  for (const std::string& text : devices.environment) SetDevice(all, text);
  const auto sight = devices.has_other_gpus ? cluster::Sight::kAll : cluster::Sight::kOwn;
  const Variables manifest_variables = {manifest.environment().begin(), manifest.environment().end()};
  for (const Variables& source : {Variables(cluster::DeviceVariables(manifest, sight)),
                                  Variables(cluster::ReplicaVariables(manifest, start.cluster, CpuCount())),
                                  manifest_variables, ChannelVariables(manifest, channels)}) {
    for (const auto& [name, value] : source) all[name] = value;
  }
  std::vector<std::string> variables;
  for (const auto& [name, value] : all) variables.push_back(name + "=" + value);
  return variables;
}

Channels ContainerChannels(const v1::Manifest& manifest) {
  Channels channels = FindChannels(manifest, true);
  channels.files = manifest.has_google_front() && !manifest.google_front().buckets_dir().empty();
  return channels;
}

Result<std::vector<FileView::Bind>> ContainerBinds(
    const ProgramStart& start, const Channels& channels,
    const std::function<bool(const std::string& path)>& image_has) {
  std::vector<FileView::Bind> binds = {{.from = RealPath(start.dir.Hosts()), .to = "/etc/hosts"}};
  if (access(kResolverSettings, R_OK) == 0)
    binds.push_back({.from = RealPath(kResolverSettings), .to = kResolverSettings, .read_only = true});
  // A container's own /tmp is part of its writable layer, which need not be a directory of the machine's.
  if (cluster::ReportsMetric(start.manifest))
    binds.push_back({.from = RealPath(start.dir.Metrics()), .to = "/tmp/hypertune"});
  const v1::GoogleFront& front = start.manifest.google_front();
  if (channels.names) {
    const std::string bundle = RealPath(front.ca_bundle());
    const std::size_t before = binds.size();
    for (const std::string& place : SystemCaBundles()) {
      if (image_has(place)) binds.push_back({.from = bundle, .to = place, .read_only = true});
    }
    if (binds.size() == before)
      binds.push_back({.from = bundle, .to = SystemCaBundles().front(), .read_only = true});
    // The variables name files of this directory.
    binds.push_back({.from = FolderOf(bundle), .to = FolderOf(front.ca_bundle()), .read_only = true});
  }
  if (!channels.files) return binds;
  TY_RETURN_IF_ERROR(MakeBucketPlaces(start.manifest));
  std::ranges::move(BucketBinds(start.manifest), std::back_inserter(binds));
  if (std::ranges::count(start.manifest.devices().device_files(), kFuse) > 0) return binds;
  TY_TRY(const InsideTools tools, FindInsideTools(start.manifest.places().environments_dir()));
  std::ranges::move(StorageToolBinds(tools.storage, true, image_has), std::back_inserter(binds));
  return binds;
}

Result<std::unique_ptr<Program>> ContainerProgram::Make(const v1::Manifest& manifest, image::Image image) {
  TY_TRY(std::vector<std::string> argv, ContainerCommand(manifest, image.config));
  return std::unique_ptr<Program>(new ContainerProgram(manifest, std::move(image), std::move(argv)));
}

std::vector<std::string> ContainerProgram::Announcement() const {
  const v1::Manifest::Program& program = manifest_.program();
  std::vector<std::string> lines = {"Running the image " + program.container().image() + " (" +
                                    image_.digest + ")."};
  if (!program.python_module().empty()) lines.push_back(RunningModuleLine(program.python_module()));
  return lines;
}

Result<SandboxPlan> ContainerProgram::Plan(const ProgramStart& start, Isolation isolation) {
  TY_TRY(const int stop_signal, container::ParseStopSignal(image_.config.stop_signal));
  TY_TRY(container::Spec spec, MakeSpec(start, image_, argv_));
  TY_TRY(SandboxPlan plan, PlanContainer({.runtime = manifest_.program().container().runtime_address(),
                                          .folder = ContainerFolderOf(start),
                                          .image = image_,
                                          .spec = std::move(spec),
                                          .disk_bytes = manifest_.limits().disk_bytes()},
                                         isolation));
  plan.stop_signal = stop_signal;
  plan.connect_doors = FrontDoors(start.manifest.google_front());
  return plan;
}

std::vector<std::string> ContainerProgram::Lacks(const ProgramStart& start, Isolation isolation) const {
  std::vector<std::string> lines;
  if (manifest_.limits().disk_bytes() > 0 && (isolation != Isolation::kNamespaces || !CanMountDiskImages())) {
    lines.emplace_back(
        "This machine cannot limit what the container writes (that needs root, a loop device and mkfs.ext4): "
        "diskConfig is not enforced.");
  }
  std::string channels = MissingChannels(start.manifest, true, ContainerChannels(start.manifest));
  if (!channels.empty()) lines.push_back(std::move(channels));
  std::string devices = FindDeviceFiles(start.manifest.devices()).note;
  if (!devices.empty()) lines.push_back(std::move(devices));
  return lines;
}

void ContainerProgram::OnEnded(const ProgramStart& start, ObservedEnd& end) const {
  const bool exited = end.reported && WIFEXITED(end.wait_status);
  end.failure = ContainerFailure(ContainerFolderOf(start), exited ? WEXITSTATUS(end.wait_status) : -1);
}

void ContainerProgram::CleanUp(const ProgramStart& start) const {
  if (geteuid() != 0)
    RemoveContainerFolder(ContainerFolderOf(start));  // with subordinate ids, its files belong to those
}

Result<std::unique_ptr<Program>> DaemonProgram::Make(const v1::Manifest& manifest, DaemonImage image) {
  TY_TRY(std::vector<std::string> argv, ContainerCommand(manifest, image.config));
  return std::unique_ptr<Program>(new DaemonProgram(manifest, std::move(image), std::move(argv)));
}

std::vector<std::string> DaemonProgram::Announcement() const {
  const v1::Manifest::Program& program = manifest_.program();
  std::vector<std::string> lines = {"Running the image " + program.container().image() + " (" +
                                    program.container().digest() + ")."};
  if (!program.python_module().empty()) lines.push_back(RunningModuleLine(program.python_module()));
  return lines;
}

Result<SandboxPlan> DaemonProgram::Plan(const ProgramStart& start, Isolation /*isolation*/) {
  const v1::Manifest::Container& wanted = manifest_.program().container();
  const Channels channels = ContainerChannels(manifest_);
  if (manifest_.network() == v1::Manifest::ISOLATED) {
    return std::unexpected(
        FailedPrecondition("a container that an engine runs cannot have an isolated network: start the "
                           "server with --network host, or with --container-engine oci"));
  }
  TY_TRY(const int stop_signal, container::ParseStopSignal(image_.config.stop_signal));
  const auto image_has = [](const std::string&) { return false; };  // the daemon does not say
  TY_TRY(std::vector<FileView::Bind> binds, ContainerBinds(start, channels, image_has));
  DeviceFiles devices = DaemonDevices(manifest_.devices());
  DaemonContainer container{.image = image_.id,
                            .argv = argv_,
                            .environment = MakeVariables(start, image_.config, channels, devices),
                            .host_name = manifest_.host_name(),
                            .user = image_.config.user,
                            .labels = ContainerLabels(start.dir),
                            .binds = std::move(binds),
                            .limits = MakeLimits(manifest_),
                            .devices = manifest_.devices(),
                            .files = std::move(devices),
                            .init = !IsInit(argv_.front())};
  ContainerRun run{.dir = {RealPath(start.dir.path)},
                   .socket = wanted.runtime_address(),
                   .name = ContainerName(start.dir),
                   .container = std::move(container),
                   .stop_signal = std::to_string(stop_signal)};
  TY_RETURN_IF_ERROR(NoteContainer(run.dir, run.socket, run.name));
  return SandboxPlan{.function = [run = std::move(run)] { return RunContainer(run); }};
}

std::vector<std::string> DaemonProgram::Lacks(const ProgramStart& start, Isolation /*isolation*/) const {
  std::vector<std::string> lines;
  std::string channels = MissingChannels(start.manifest, true, ContainerChannels(start.manifest));
  if (!channels.empty()) lines.push_back(std::move(channels));
  return lines;
}

/// The container's note was removed with the directory.
void DaemonProgram::GiveUp(const ProgramStart& start) const {
  DaemonApi daemon(manifest_.program().container().runtime_address());
  static_cast<void>(daemon.Remove(ContainerName(start.dir)));  // otherwise the next server does
}

void DaemonProgram::OnEnded(const ProgramStart& start, ObservedEnd& end) const {
  // This also works if the process that followed the container was killed.
  const Status removed = RemoveNotedContainers(start.dir);
  const std::optional<ContainerEnd> left = ReadContainerEnd(start.dir);
  if (left) {
    end.reported = true;
    end.wait_status = left->wait_status;
    end.oom_kills = left->out_of_memory ? 1 : 0;
    end.counts_oom_kills = true;  // the daemon does
    end.failure = left->failure;
    end.lost = left->lost;
  }
  if (!removed && !left) {
    end.failure = "The container may still run: " + removed.error().message;
    end.lost = true;
  }
}

}  // namespace trainyard::replica
