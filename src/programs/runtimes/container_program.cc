#include "programs/runtimes/container_program.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/async/file.h"
#include "programs/lines/task_lines.h"
#include "programs/runtimes/container_view.h"
#include "programs/runtimes/image_packages.h"
#include "programs/runtimes/inside_tools.h"
#include "programs/runtimes/oci_container.h"
#include "programs/sandbox/namespaces/device_files.h"
#include "programs/sandbox/namespaces/disk_image.h"
#include "rules/container/user.h"

namespace trainyard::replica {

namespace {

std::string FolderOf(const ProgramStart& start) { return AttemptDir{RealPath(start.dir.path)}.Container(); }

/// Half of the memory, as the kernel gives it to a machine.
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
  container::Spec spec{
      .args = std::move(argv),
      .environment = ContainerVariables(start, config, user.home, channels, devices.environment),
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
    TY_TRY(std::string init, WriteContainerInit({RealPath(start.dir.path)}));
    spec.binds.push_back({std::move(init), kContainerInit, true, false});
  }
  return spec;
}

}  // namespace

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
                                          .folder = FolderOf(start),
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
  end.failure = ContainerFailure(FolderOf(start), exited ? WEXITSTATUS(end.wait_status) : -1);
}

void ContainerProgram::CleanUp(const ProgramStart& start) const {
  if (geteuid() != 0) RemoveContainerFolder(FolderOf(start));  // with further ids, its files are theirs
}

}  // namespace trainyard::replica
