#include "programs/runtimes/daemon_program.h"

#include <unistd.h>

#include <algorithm>

#include "base/async/file.h"
#include "programs/lines/task_lines.h"
#include "programs/runtimes/container_view.h"
#include "programs/runtimes/daemon_api.h"
#include "programs/runtimes/daemon_container.h"
#include "programs/runtimes/image_packages.h"
#include "programs/runtimes/inside_tools.h"
#include "programs/sandbox/namespaces/device_files.h"
#include "rules/container/user.h"

namespace trainyard::replica {

namespace {

/// HOME is left to the daemon: it reads the image's own files for it.
std::vector<std::string> MakeVariables(const ProgramStart& start, const container::ImageConfig& config,
                                       const Channels& channels) {
  std::vector<std::string> variables = ContainerVariables(start, config, "", channels, {});
  std::erase(variables, "HOME=");
  return variables;
}

/// The machine cannot be asked for more processors than it has, and a container daemon's own default for
/// shared memory (64 MB) is too small for data loaders.
v1::Manifest::Limits MakeLimits(const v1::Manifest& manifest) {
  v1::Manifest::Limits limits = manifest.limits();
  limits.set_cpus(std::min(limits.cpus(), static_cast<double>(CpuCount())));
  if (limits.shared_memory_bytes() == 0)
    limits.set_shared_memory_bytes(sysconf(_SC_PHYS_PAGES) / 2 * sysconf(_SC_PAGESIZE));
  return limits;
}

}  // namespace

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
  DaemonContainer container{.image = image_.id,
                            .argv = argv_,
                            .environment = MakeVariables(start, image_.config, channels),
                            .host_name = manifest_.host_name(),
                            .user = image_.config.user,
                            .labels = ContainerLabels(start.dir),
                            .binds = std::move(binds),
                            .limits = MakeLimits(manifest_),
                            .devices = manifest_.devices(),
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

/// The note of the container is gone with the directory.
void DaemonProgram::GiveUp(const ProgramStart& start) const {
  DaemonApi daemon(manifest_.program().container().runtime_address());
  static_cast<void>(daemon.Remove(ContainerName(start.dir)));  // else the next server does
}

void DaemonProgram::OnEnded(const ProgramStart& start, ObservedEnd& end) const {
  // Also where the process that followed the container was killed.
  const Status removed = RemoveNotedContainers(start.dir);
  const std::optional<ContainerEnd> left = ReadContainerEnd(start.dir);
  if (left) {
    end.reported = true;
    end.wait_status = left->wait_status;
    end.oom_kills = left->out_of_memory ? 1 : 0;
    end.counts_oom_kills = true;  // the engine does
    end.failure = left->failure;
    end.lost = left->lost;
  }
  if (!removed && !left) {
    end.failure = "The container may still run: " + removed.error().message;
    end.lost = true;
  }
}

}  // namespace trainyard::replica
