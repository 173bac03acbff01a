#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "rules/kubernetes/pod.h"
#include "rules/kubernetes/server_words.h"
#include "rules/placement/agent_boot.h"

namespace trainyard::kubernetes {

namespace {

using placement::RoomEnd;

/// "The pod ty-1f3a-17-1-2-0 on the node n1".
std::string PodOnNode(const Pod& pod) {
  return "The pod " + pod.name + (pod.has_node() ? " on the node " + pod.node : "");
}

/// "... was evicted: the server's words."
PodEnd Said(RoomEnd kind, std::string words, std::string_view more) {
  const std::string said = ServerWords(more);
  return {.kind = kind, .reason = std::move(words) + (said.empty() ? "." : ": " + said + ".")};
}

// What Kubernetes did to the pod: the condition DisruptionTarget.

struct Disruption {
  std::string_view reason;
  RoomEnd kind;
  std::string_view words;  ///< after PodOnNode
};

constexpr std::array kDisruptions{
    Disruption{"PreemptionByScheduler", RoomEnd::kPreempted, "had to make room for a more important one"},
    Disruption{"EvictionByEvictionAPI", RoomEnd::kPreempted, "was evicted, as when a node is drained"},
    Disruption{"DeletionByTaintManager", RoomEnd::kLost, "is lost: the node is silent or takes no such pods"},
    Disruption{"DeletionByPodGC", RoomEnd::kLost, "is lost: the node is no longer in the cluster"},
    Disruption{"TerminationByKubelet", RoomEnd::kLost, "was ended by its node"},
};

/// Kueue says so before it deletes a pod of ours.
constexpr std::string_view kTerminationTarget = "TerminationTarget";
/// Its reason if an administrator has switched the Workload off (spec.active), or a limit of the queue has:
/// it is not admitted again.
constexpr std::string_view kDeactivated = "WorkloadEvictedDueToDeactivated";
/// The kubelet's reason if it makes room for a pod that the cluster needs.
constexpr std::string_view kPreempting = "Preempting";
/// The node is silent; the phase stays as it was.
constexpr std::string_view kNodeLost = "NodeLost";

const Pod::Condition* TrueCondition(const Pod& pod, std::string_view type) {
  const auto found = std::ranges::find_if(pod.conditions, [type](const Pod::Condition& condition) {
    return condition.type == type && condition.status == "True";
  });
  return found == pod.conditions.end() ? nullptr : &*found;
}

std::optional<PodEnd> ByDisruption(const Pod& pod) {
  if (const Pod::Condition* queue = TrueCondition(pod, kTerminationTarget))
    return Said(queue->reason.starts_with(kDeactivated) ? RoomEnd::kCancelled : RoomEnd::kPreempted,
                PodOnNode(pod) + " was stopped by a queue of the cluster", queue->message);
  const Pod::Condition* target = TrueCondition(pod, "DisruptionTarget");
  if (target == nullptr) return std::nullopt;
  if (pod.reason == kPreempting)
    return Said(RoomEnd::kPreempted, PodOnNode(pod) + " had to make room for a more important one",
                pod.message);
  const std::string& message = pod.message.empty() ? target->message : pod.message;
  const auto row = std::ranges::find(kDisruptions, target->reason, &Disruption::reason);
  if (row != kDisruptions.end())
    return Said(row->kind, PodOnNode(pod) + " " + std::string(row->words), message);
  return Said(RoomEnd::kLost, PodOnNode(pod) + " was ended by the cluster (" + target->reason + ")", message);
}

// What the pod's status says: its phase is Failed, and it has a reason.

std::optional<PodEnd> ByReason(const Pod& pod) {
  if (pod.reason == "DeadlineExceeded")
    return PodEnd{.kind = RoomEnd::kTimeLimit, .reason = PodOnNode(pod) + " has reached its time limit."};
  if (pod.reason == kPreempting)
    return Said(RoomEnd::kPreempted, PodOnNode(pod) + " had to make room for a more important one",
                pod.message);
  if (pod.reason.empty() || (pod.phase != Pod::Phase::kFailed && pod.reason != kNodeLost))
    return std::nullopt;
  // "OutOfcpu", "UnexpectedAdmissionError", "NodeAffinity": the node did not take it.
  const bool was_taken = pod.terminated.has_value() || pod.reason == "Evicted" ||
                         pod.reason == "Terminated" || pod.reason == kNodeLost || pod.reason == "Shutdown";
  return Said(RoomEnd::kLost,
              PodOnNode(pod) + (was_taken ? " was ended by its node (" : " was refused by its node (") +
                  pod.reason + ")",
              pod.message);
}

// How its container ended.

constexpr int kSignalBase = 128;  ///< a shell's status for a signal, and that of a container
constexpr int kNotExecutable = 126;
constexpr int kNoCommand = 127;

PodEnd LostWith(const Pod& pod, const std::string& words) {
  return {.kind = RoomEnd::kLost, .reason = PodOnNode(pod) + " " + words + "."};
}

/// The statuses of the boot script and of the agent (RunAgent).
PodEnd ByStatus(const Pod& pod, int status) {
  switch (status) {
    case 0: return LostWith(pod, "has ended before its work was done");
    case placement::kExitNoDownload:
      return LostWith(pod,
                      "could not download the agent's program: pods have to reach the address of "
                      "--agent-listen (docs/kubernetes.md, firewalls)");
    case placement::kExitNoDirectory:
    case placement::kExitNoProgram:
      return LostWith(pod, "could not store the agent's program; its volume may be full");
    case kNotExecutable:
    case kNoCommand:
      return {.kind = RoomEnd::kCannotStart,
              .reason = PodOnNode(pod) + " could not start the agent (exit status " + std::to_string(status) +
                        "): the image needs bash, coreutils and a C library as new as the server's."};
    default: break;
  }
  if (status > kSignalBase && status < 2 * kSignalBase - 1)
    return LostWith(pod, "was ended by signal " + std::to_string(status - kSignalBase));
  return LostWith(pod, "has ended before its work was done (exit status " + std::to_string(status) + ")");
}

bool CannotStart(const Pod::Terminated& end) {
  return end.reason == "StartError" || end.reason == "ContainerCannotRun";
}

PodEnd ByContainer(const Pod& pod, const Pod::Terminated& end) {
  // The node was off meanwhile, and does not know how it ended.
  if (end.reason == "Unknown" || end.reason == "ContainerStatusUnknown")
    return LostWith(pod, "is lost: its node has started again");
  // The same image would fail again.
  if (CannotStart(end))
    return Said(RoomEnd::kCannotStart, PodOnNode(pod) + " could not start its container", end.message);
  return ByStatus(pod, end.exit_code);
}

}  // namespace

PodEnd EndOf(const Pod& pod, bool is_gone) {
  if (std::optional<PodEnd> end = ByDisruption(pod)) return *std::move(end);
  if (std::optional<PodEnd> end = ByReason(pod)) return *std::move(end);
  const bool is_out_of_memory = pod.terminated && pod.terminated->reason == kOutOfMemory;
  if (is_out_of_memory && pod.has_job && !pod.terminated->of_job)
    return LostWith(pod, "had too little memory for the agent beside the job");
  if (is_out_of_memory)
    return {.kind = RoomEnd::kOutOfMemory, .reason = PodOnNode(pod) + " used more memory than it asked for."};
  // A container that ends because its pod is deleted has the status of a signal, or what its handler says.
  if (pod.is_deleted || (is_gone && !pod.has_ended()))
    return {.kind = RoomEnd::kCancelled, .reason = PodOnNode(pod) + " was deleted in Kubernetes."};
  if (pod.terminated) return ByContainer(pod, *pod.terminated);
  return Said(RoomEnd::kLost, PodOnNode(pod) + " has ended before its work was done", pod.message);
}

}  // namespace trainyard::kubernetes
