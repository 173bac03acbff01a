#include "rules/kubernetes/pod_script.h"

#include <cstdint>
#include <vector>

#include "rules/placement/agent_boot.h"

namespace trainyard::kubernetes {

namespace {

using namespace std::chrono_literals;

/// Our images have the agent's program here, under its digest: nothing is copied or downloaded then.
constexpr std::string_view kImagePrograms = "/usr/local/lib/trainyard";
/// The server ends a job at its limit; an agent whose server is away does so this much later.
constexpr std::chrono::seconds kLimitSlack = 5min;

/// "0,1,2"
std::string IndexesOf(std::int64_t devices) {
  std::string indexes;
  for (std::int64_t i = 0; i < devices; ++i) indexes += (i == 0 ? "" : ",") + std::to_string(i);
  return indexes;
}

/// Sets $gpus. An image may set NVIDIA_VISIBLE_DEVICES, too, so it counts only if devices were asked for. It
/// names none if the plugin passes them in another way ("void": CDI; a path: volumes).
std::string FindGpus(const SlotRequest& slot) {
  if (slot.devices == 0) return "gpus=\n";
  return "gpus=${NVIDIA_VISIBLE_DEVICES-}\n"
         "case $gpus in ''|all|none|void|/*) gpus=" +
         IndexesOf(slot.devices) + ";; esac\n";
}

/// The first lines of the script of each of our containers: they set $dir and make the folders.
std::string BeginScript() {
  // As the first process of its container, a shell ignores SIGTERM unless it is told otherwise.
  return "trap 'exit 143' TERM\numask 077\n"
         // A folder in the volume: the volume itself belongs to root.
         "dir=" +
         std::string(kVolume) +
         "/node\n"
         "mkdir -p \"$dir\" \"$HOME\" \"$TMPDIR\" || exit " +
         std::to_string(placement::kExitNoDirectory) + "\n";
}

/// Sets $program. Variables: $dir, $slot, $node.
std::string FindProgram(const Boot& boot) {
  return "mine=\nprogram=" + std::string(kImagePrograms) + "/trainyard-" + boot.program_sha256 +
         "\nif ! [[ -x $program ]]; then\n" + placement::FindAgentScript(boot) + "fi\n";
}

}  // namespace

std::chrono::seconds RunMax(std::chrono::seconds running_limit, const KubernetesSettings& settings) {
  return running_limit + kLimitSlack + settings.pull_max;
}

std::string PrepareScript(const Batch& batch) {
  return BeginScript() + "slot=0 node=prepare\n" + FindProgram(batch.boot) +
         "exec \"$program\" agent --write-starter=" + std::string(kStarter) + "\n";
}

std::string AgentScript(const Batch& batch, const SlotRequest& slot, int number,
                        const KubernetesSettings& settings) {
  std::string script;
  if (batch.running_limit)
    script += "export TRAINYARD_UNTIL=$(($(date +%s) + " +
              std::to_string(RunMax(*batch.running_limit, settings).count()) + "))\n";
  script +=
      BeginScript() + "slot=" + std::to_string(number) + " node=$TRAINYARD_NODE\nunset TRAINYARD_NODE\n";
  script += FindGpus(slot) + FindProgram(batch.boot);
  // An environment keeps its path: it is the same in all pods of a cache, and in those without one each
  // node's.
  const bool has_cache = slot.image.empty() && !settings.cache.empty();
  std::vector<std::string> more{"--cache=" + (has_cache ? std::string(kCache) : "\"$dir/nodes/$node\"")};
  if (!batch.front_names.empty()) more.push_back("--front=" + std::string(kFrontAddress));
  if (!slot.image.empty()) {
    script += "until [[ -S " + std::string(kStarterSocket) + " ]]; do sleep 0.1; done\n";
    more.push_back("--starter=" + std::string(kStarterSocket));
  }
  return script + placement::ExecAgentScript(batch.boot, more);
}

}  // namespace trainyard::kubernetes
