#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rules/kubernetes/pod.h"
#include "rules/kubernetes/pod_request.h"
#include "rules/kubernetes/refusal.h"

namespace trainyard::engine {

template <class T>
using KubeAnswer = std::expected<T, kubernetes::Refusal>;

/// All pods of the installation at one moment.
struct PodList {
  std::vector<kubernetes::Pod> pods;
  std::string version;  ///< resourceVersion: where a watch continues
};

/// The event of an autoscaler that adds a node for a pod. Source: cluster-autoscaler.
inline constexpr std::string_view kTriggeredScaleUp = "TriggeredScaleUp";

/// A change of a pod.
struct PodEvent {
  enum class Kind { kChanged, kGone };
  Kind kind = Kind::kChanged;
  kubernetes::Pod pod;
};

/// Whether gangs can be placed by the cluster's scheduler, as PodGroups.
enum class PodGroups {
  kNotServed,  ///< the cluster has no scheduler for gangs, or it is switched off
  kNoRight,    ///< it has one, but this account may not create PodGroups
  kUsable,
};

/// The requests to the API server that an engine needs. Calls block for as long as the server takes, at most
/// some 20 s, except Watch; any thread, several at once. Implementation: KubeHttp.
/// docs/adr/0103-kubernetes.md.
class KubeClient {
 public:
  virtual ~KubeClient() = default;

  /// Creates the Secret of a submission and returns its uid. kThere: it exists already.
  [[nodiscard]] virtual KubeAnswer<std::string> CreateSecret(const std::string& json) const = 0;
  /// The uid of a Secret by its name.
  [[nodiscard]] virtual KubeAnswer<std::string> FindSecret(const std::string& name) const = 0;
  /// Deletes a Secret; its pods go with it. A Secret that does not exist is no error.
  [[nodiscard]] virtual KubeAnswer<void> DeleteSecret(const std::string& name) const = 0;
  /// Creates a pod. kThere: it exists already.
  [[nodiscard]] virtual KubeAnswer<void> CreatePod(const std::string& json) const = 0;
  /// Whether PodGroups can be used.
  [[nodiscard]] virtual KubeAnswer<PodGroups> FindPodGroups() const = 0;
  /// Creates a PodGroup. kThere: it exists already.
  [[nodiscard]] virtual KubeAnswer<void> CreatePodGroup(const std::string& json) const = 0;
  /// Deletes the Workload that Kueue has made of a group of pods. One that does not exist is no error.
  [[nodiscard]] virtual KubeAnswer<void> DeleteWorkload(const std::string& name) const = 0;
  /// Why Kueue has not admitted the Workload of a group of pods yet, in its words; empty: it does not say.
  /// kMistake: the account may not read Workloads.
  [[nodiscard]] virtual KubeAnswer<std::string> QueueWords(const std::string& name) const = 0;
  /// All pods with the label, e.g. "trainyard.dev/installation=1f3a".
  [[nodiscard]] virtual KubeAnswer<PodList> ListPods(const std::string& selector) const = 0;
  /// Reports changes after `version` until the server ends the watch, `is_over` returns true (asked at least
  /// once a second) or an error; returns the version up to which everything was reported. kGone: the version
  /// is too old, and the pods have to be listed again.
  using OnEvent = std::function<void(PodEvent)>;
  [[nodiscard]] virtual KubeAnswer<std::string> WatchPods(const std::string& selector, std::string version,
                                                          const OnEvent& on_event,
                                                          const std::function<bool()>& is_over) const = 0;
  /// The cluster's nodes. kMistake: the account may not list them.
  [[nodiscard]] virtual KubeAnswer<std::vector<kubernetes::KubeNode>> Nodes() const = 0;
  /// Messages of the warnings about a pod, the newest first: "FailedMount: ..."; without those that are ten
  /// minutes older than the newest one. An autoscaler's event kTriggeredScaleUp is among them, although it is
  /// no warning.
  [[nodiscard]] virtual KubeAnswer<std::vector<std::string>> WarningsOf(const std::string& pod) const = 0;
  /// The rights that an engine needs and this account lacks, as "verb resource"; empty: it lacks none.
  [[nodiscard]] virtual KubeAnswer<std::vector<std::string>> MissingRights() const = 0;
  /// The namespace of all objects.
  [[nodiscard]] virtual const std::string& name_space() const noexcept = 0;
};

}  // namespace trainyard::engine
