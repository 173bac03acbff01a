#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <vector>

#include "base/ascii.h"
#include "base/number.h"
#include "rules/kubernetes/pod.h"
#include "rules/kubernetes/server_words.h"

namespace trainyard::kubernetes {

namespace {

using placement::Shortage;

// Before a pod has a node: what the scheduler says.

/// Why a node is out of the question.
enum class Obstacle {
  kBusy,      ///< other pods have what it needs
  kLabels,    ///< the node selector does not fit
  kClosed,    ///< the node takes no pods, or not these
  kPeculiar,  ///< something else
};

struct Row {
  std::string_view part;  ///< of the scheduler's words
  std::string_view one;   ///< "1 node" and this; "%R": the resource
  std::string_view many;  ///< "2 nodes" and this
  Obstacle obstacle;
};

// The first row that matches counts.
constexpr std::array kRows{
    Row{"Insufficient cpu", "has too few free CPUs", "have too few free CPUs", Obstacle::kBusy},
    Row{"Insufficient memory", "has too little free memory", "have too little free memory", Obstacle::kBusy},
    Row{"Insufficient ephemeral-storage", "has too little free disk space", "have too little free disk space",
        Obstacle::kBusy},
    Row{"Insufficient nvidia.com/gpu", "has too few free GPUs", "have too few free GPUs", Obstacle::kBusy},
    Row{"Insufficient ", "has too few free %R", "have too few free %R", Obstacle::kBusy},
    Row{"Too many pods", "has as many pods as it may have", "have as many pods as they may have",
        Obstacle::kBusy},
    Row{"node affinity/selector", "lacks the labels of the node selector",
        "lack the labels of the node selector", Obstacle::kLabels},
    Row{"untolerated taint {node.kubernetes.io/", "is not ready", "are not ready", Obstacle::kClosed},
    Row{"untolerated taint", "is closed by a taint (it is down, or kept for other pods)",
        "are closed by taints (they are down, or kept for other pods)", Obstacle::kClosed},
    Row{"were unschedulable", "takes no new pods (cordoned)", "take no new pods (cordoned)",
        Obstacle::kClosed},
};

/// "2 Insufficient cpu".
struct Cause {
  std::int64_t nodes = 0;
  std::string_view words;
};

/// The part of the message that is for people: the causes.
std::string_view WithoutPreemption(std::string_view message) {
  for (const std::string_view mark : {"no new claims", "preemption:"})
    message = message.substr(0, message.find(mark));
  message = TrimSpace(message);
  while (message.ends_with('.') || message.ends_with(',')) message.remove_suffix(1);
  return message;
}

bool BeginsWithNumber(std::string_view text) { return LeadingNumber<std::int64_t>(text).has_value(); }

/// Removes the first cause and returns it. Its own words may have commas.
Cause TakeCause(std::string_view& list) {
  constexpr std::string_view kComma = ", ";
  std::size_t end = list.find(kComma);
  while (end != std::string_view::npos && !BeginsWithNumber(list.substr(end + kComma.size())))
    end = list.find(kComma, end + 1);
  std::string_view words = list.substr(0, end);
  list.remove_prefix(end == std::string_view::npos ? list.size() : end + kComma.size());
  Cause cause;
  const auto [rest, error] = std::from_chars(words.data(), words.data() + words.size(), cause.nodes);
  cause.words =
      error == std::errc() ? TrimSpace(words.substr(static_cast<std::size_t>(rest - words.data()))) : words;
  return cause;
}

const Row* RowOf(std::string_view words) {
  const auto row = std::ranges::find_if(kRows, [words](const Row& one) { return words.contains(one.part); });
  return row == kRows.end() ? nullptr : &*row;
}

/// "2 nodes have too few free CPUs".
std::string Told(const Cause& cause) {
  const std::string nodes = text::Counted(cause.nodes, "node");
  const Row* row = RowOf(cause.words);
  if (row == nullptr) {
    constexpr std::string_view kNodes = "node(s) ";
    std::string_view words = cause.words;
    if (words.starts_with(kNodes)) words.remove_prefix(kNodes.size());
    return nodes + (cause.words.starts_with(kNodes) ? " " : ": ") + ServerWords(words);
  }
  std::string told(cause.nodes == 1 ? row->one : row->many);
  if (const std::size_t at = told.find("%R"); at != std::string::npos)
    told.replace(at, 2, cause.words.substr(cause.words.find(row->part) + row->part.size()));
  return nodes + " " + told;
}

/// The causes of "0/4 nodes are available: ...".
struct Verdict {
  std::int64_t nodes = 0;  ///< of the cluster
  std::vector<Cause> causes;

  [[nodiscard]] bool Has(Obstacle obstacle) const {
    return std::ranges::any_of(causes, [obstacle](const Cause& cause) {
      const Row* row = RowOf(cause.words);
      return (row == nullptr ? Obstacle::kPeculiar : row->obstacle) == obstacle;
    });
  }
  /// Whether the node selector fits no node.
  [[nodiscard]] bool HasNoLabels() const {
    return std::ranges::any_of(causes, [this](const Cause& cause) {
      const Row* row = RowOf(cause.words);
      return row != nullptr && row->obstacle == Obstacle::kLabels && cause.nodes == nodes;
    });
  }
};

/// nullopt: the message has another form.
std::optional<Verdict> ParseVerdict(std::string_view message) {
  constexpr std::string_view kNone = "0/";
  constexpr std::string_view kAvailable = " nodes are available: ";
  const std::size_t at = message.find(kAvailable);
  if (!message.starts_with(kNone) || at == std::string_view::npos) return std::nullopt;
  const auto nodes = WholeNumber<std::int64_t>(message.substr(kNone.size(), at - kNone.size()));
  if (!nodes) return std::nullopt;
  Verdict verdict{.nodes = *nodes};
  std::string_view list = WithoutPreemption(message.substr(at + kAvailable.size()));
  while (!list.empty()) verdict.causes.push_back(TakeCause(list));
  if (verdict.causes.empty()) return std::nullopt;
  return verdict;
}

Shortage NoNodeFits(std::string_view message) {
  if (message.starts_with("no nodes available"))
    return {.reason = "The cluster has no nodes.", .unblock = "It starts when the cluster gets some."};
  const std::optional<Verdict> verdict = ParseVerdict(message);
  if (!verdict)
    return {
        .reason = "The cluster's scheduler finds no node: " + ServerWords(WithoutPreemption(message)) + ".",
        .unblock = "It starts when a node fits."};
  Shortage shortage{.reason = "No node fits: "};
  for (std::size_t i = 0; i < verdict->causes.size(); ++i)
    shortage.reason += (i == 0 ? "" : ", ") + Told(verdict->causes[i]);
  shortage.reason += ".";
  if (verdict->HasNoLabels()) {
    shortage.unblock = "Give nodes these labels, or change the node selector in the server's settings.";
    shortage.never = true;
  } else if (verdict->Has(Obstacle::kBusy)) {
    shortage.unblock =
        "It starts when enough of that is free; a smaller machine type or fewer accelerators may start "
        "earlier.";
  } else if (verdict->Has(Obstacle::kClosed)) {
    shortage.unblock = "It starts when such nodes take its pods; the cluster's administrator can say when.";
  } else {
    shortage.unblock = "It starts when a node fits.";
  }
  return shortage;
}

/// The scheduler's words about pods of a PodGroup that would fit if another one of them did.
constexpr std::string_view kGangOnly = "minCount (";

const Pod::Condition* NotScheduled(const Pod& pod) {
  const auto found = std::ranges::find_if(pod.conditions, [](const Pod::Condition& condition) {
    return condition.type == "PodScheduled" && condition.status == "False";
  });
  return pod.has_node() || found == pod.conditions.end() ? nullptr : &*found;
}

// After a pod has a node: what the node says.

/// Begins the words of a pod that pulls its image again and again.
std::string RegistryWords(std::string_view message) {
  constexpr std::string_view kBackOff = "Back-off pulling image ";
  constexpr std::string_view kMark = ": ErrImagePull: ";
  const std::size_t at = message.find(kMark);
  if (message.starts_with(kBackOff) && at != std::string_view::npos) message.remove_prefix(at + kMark.size());
  return ServerWords(message);
}

std::string With(std::string words, const std::string& more) {
  return std::move(words) + (more.empty() ? "." : ": " + more + ".");
}

bool IsOneOf(std::string_view reason, std::initializer_list<std::string_view> reasons) {
  return std::ranges::find(reasons, reason) != reasons.end();
}

std::string ImageAdvice(const Pod& pod) {
  return pod.waiting.of_job ? "Check the image that the job names, its registry and the Secret for it "
                              "(kubernetes-pull-secret)."
                            : "Check the image's name, its registry and the Secret for it (kubernetes-image, "
                              "kubernetes-pull-secret).";
}

StartWait ImageWait(const Pod& pod) {
  const std::string& reason = pod.waiting.reason;
  if (reason == "InvalidImageName")
    return {.words = {.reason = With("The name of its image is none", ServerWords(pod.waiting.message)),
                      .unblock = ImageAdvice(pod),
                      .never = true},
            .is_final = true};
  if (reason == "ErrImageNeverPull")
    return {.words = {.reason = With("The node " + pod.node + " does not have its image and may not pull it",
                                     ServerWords(pod.waiting.message)),
                      .unblock = ImageAdvice(pod),
                      .never = true},
            .is_final = true};
  const std::string which = pod.waiting.of_job ? " cannot pull the job's image" : " cannot pull its image";
  return {.words = {.reason = With("The node " + pod.node + which, RegistryWords(pod.waiting.message)),
                    .unblock = std::string(kTriesAgain) + ImageAdvice(pod)}};
}

StartWait ContainerWait(const Pod& pod) {
  const std::string said = ServerWords(pod.waiting.message);
  if (pod.waiting.reason == "CreateContainerConfigError" && said.starts_with("secret "))
    return {.words = {.reason = With("A Secret that its pod needs does not exist", said),
                      .unblock = "Create that Secret in the namespace, or change the server's settings."}};
  return {.words = {
              .reason = With(
                  "The node " + pod.node + " cannot start its container (" + pod.waiting.reason + ")", said),
              .unblock = "The node tries again; `kubectl describe pod " + pod.name + "` says more."}};
}

}  // namespace

SaidOfNodes WhatIsSaid(const Pod& pod) {
  const Pod::Condition* condition = NotScheduled(pod);
  if (condition == nullptr) return SaidOfNodes::kNothing;
  return condition->message.contains(kGangOnly) ? SaidOfNodes::kOfGang : SaidOfNodes::kWhy;
}

Shortage WhyUnplaced(const Pod& pod) {
  const Pod::Condition* condition = NotScheduled(pod);
  if (condition == nullptr) return {};
  if (IsGated(pod))
    return {.reason = "A queue of the cluster has not admitted it yet.",
            .unblock = "It starts when the queue admits it and nodes are free."};
  if (WhatIsSaid(pod) == SaidOfNodes::kOfGang)
    return {.reason = "The cluster has no room for all of its pods at once.",
            .unblock = "It starts when it has; fewer replicas or a smaller machine type may start earlier."};
  if (condition->reason == "Unschedulable") return NoNodeFits(condition->message);
  return {.reason = With("The cluster's scheduler has a problem", ServerWords(condition->message)),
          .unblock = "The scheduler tries again."};
}

bool IsGated(const Pod& pod) {
  const Pod::Condition* condition = NotScheduled(pod);
  return condition != nullptr && condition->reason == "SchedulingGated";
}

bool IsUnschedulable(const Pod& pod) {
  const Pod::Condition* condition = NotScheduled(pod);
  return condition != nullptr && condition->reason == "Unschedulable";
}

std::optional<StartWait> WhyNotStarted(const Pod& pod) {
  if (!pod.has_node() || pod.phase != Pod::Phase::kPending) return std::nullopt;
  const std::string& reason = pod.waiting.reason;
  if (reason.empty() || IsOneOf(reason, {"ContainerCreating", "PodInitializing"})) {
    if (!pod.waiting.message.empty()) return ContainerWait(pod);
    return StartWait{.words = {.reason = "The node " + pod.node +
                                         " prepares its pod: it pulls the image and mounts volumes.",
                               .unblock = "It starts when the image is there."}};
  }
  // kubelet's pkg/kubelet/images/types.go, and image names that the runtime cannot read.
  if (IsOneOf(reason, {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull",
                       "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"}))
    return ImageWait(pod);
  return ContainerWait(pod);
}

}  // namespace trainyard::kubernetes
