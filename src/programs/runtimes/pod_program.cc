#include "programs/runtimes/pod_program.h"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <string_view>
#include <tuple>

#include "base/async/file.h"
#include "base/async/remove_tree.h"
#include "base/process/kernel_calls.h"
#include "programs/runtimes/container_program.h"
#include "programs/runtimes/image_packages.h"
#include "programs/runtimes/pod_container.h"
#include "programs/sandbox/namespaces/hosts_file.h"
#include "rules/cluster/tf_config.h"
#include "rules/container/user.h"

namespace trainyard::replica {

namespace {

/// How long the follower of a container that ended waits to be told why: the cluster says it to the server,
/// which then ends the attempt with that reason.
constexpr std::time_t kReasonWaitSeconds = 60;

/// The container's own PATH and HOME stay, unless the job names others.
std::vector<std::string> VariablesOf(const ProgramStart& start) {
  const auto& given = start.manifest.environment();
  const v1::Cluster cluster = WithoutHostNames(start.cluster);  // the container's hosts file is the pod's
  const ProgramStart seen{.dir = start.dir,
                          .manifest = start.manifest,
                          .cluster = cluster,
                          .lock_fd = start.lock_fd,
                          .required = start.required};
  std::vector<std::string> variables =
      ContainerVariables(seen, {}, "", FindChannels(start.manifest, false), {});
  std::erase_if(variables, [&given](const std::string& text) {
    const std::string name = text.substr(0, text.find('='));
    return (name == "PATH" || name == "HOME") && !given.contains(name);
  });
  constexpr std::string_view kMetricFile = "CLOUD_ML_HP_METRIC_FILE=";
  for (std::string& text : variables)
    if (text.starts_with(kMetricFile))
      text = std::string(kMetricFile) + start.dir.Metrics() + text.substr(text.rfind('/'));
  return variables;
}

/// The main function of the sandbox.
int Follow(const AttemptDir& dir, const PodRun& run) {
  const ContainerEnd end = RunInPod(run);
  WriteContainerEnd(dir, end);
  if (end.lost) {
    const sigset_t told = SignalSet({SIGTERM});
    const timespec wait_max{.tv_sec = kReasonWaitSeconds, .tv_nsec = 0};
    sigtimedwait(&told, nullptr, &wait_max);
  }
  return ExitStatusOf(end);
}

}  // namespace

std::string PodSharedFolder(const v1::Manifest& manifest) {
  return FolderOf(manifest.program().container().runtime_address()) + "/" + manifest.attempt_id();
}

Result<std::unique_ptr<Program>> PodProgram::Make(const v1::Manifest& manifest,
                                                  const container::ImageConfig& image) {
  TY_TRY(std::vector<std::string> argv, ContainerCommand(manifest, image));
  TY_TRY(const int stop_signal, container::ParseStopSignal(image.stop_signal));
  return std::unique_ptr<Program>(new PodProgram(manifest, std::move(argv), stop_signal));
}

std::vector<std::string> PodProgram::Announcement() const {
  const v1::Manifest::Container& container = manifest_.program().container();
  return {"Running the image " + container.image() + " (" + container.digest() +
          ") as a container of the pod."};
}

Result<SandboxPlan> PodProgram::Plan(const ProgramStart& start, Isolation /*isolation*/) {
  PodRun run{.socket = manifest_.program().container().runtime_address(),
             .argv = argv_,
             .environment = VariablesOf(start),
             .stop_signal = stop_signal_,
             .whole = true};
  // While the follower lives, so may the program: then the attempt is not over.
  return SandboxPlan{.function = [dir = AttemptDir{RealPath(start.dir.path)},
                                  run = std::move(run)] { return Follow(dir, run); },
                     .function_holds_lock = true};
}

std::vector<std::string> PodProgram::Lacks(const ProgramStart& start, Isolation /*isolation*/) const {
  std::vector<std::string> lines;
  if (manifest_.limits().disk_bytes() > 0)
    lines.emplace_back("A pod cannot limit what the container writes: diskConfig is not enforced.");
  std::string channels = MissingChannels(start.manifest, false, FindChannels(start.manifest, false));
  if (!channels.empty()) lines.push_back(std::move(channels));
  return lines;
}

void PodProgram::OnEnded(const ProgramStart& start, ObservedEnd& end) const {
  const std::optional<ContainerEnd> left = ReadContainerEnd(start.dir);
  if (!left) return;  // the follower was killed
  end.reported = true;
  end.wait_status = left->wait_status;
  end.oom_kills = left->out_of_memory ? 1 : 0;
  end.counts_oom_kills = true;  // the starter does
  end.memory_bytes = left->memory_bytes;
  end.memory_peak_bytes = left->memory_peak_bytes;
  end.failure = left->failure;
  end.lost = left->lost;
}

void PodProgram::CleanUp(const ProgramStart& start) const {
  std::ignore = RemoveTree(start.dir.shared);  // files of another user go with the pod
}

}  // namespace trainyard::replica
