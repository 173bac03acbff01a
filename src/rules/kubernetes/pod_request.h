#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rules/kubernetes/object_name.h"
#include "rules/kubernetes/settings.h"
#include "rules/placement/agent_boot.h"
#include "rules/placement/gang.h"

/// The objects that a gang becomes. Pure: any thread. Source: spec kubernetes.md section 6.
namespace trainyard::kubernetes {

/// What a node can give to pods: status.allocatable, and what decides whether a pod may go there.
struct KubeNode {
  std::string name;
  double cpus = 0;
  std::int64_t memory_bytes = 0;
  std::map<std::string, std::int64_t> devices{};  ///< extended resources: "nvidia.com/gpu" -> 8
  std::map<std::string, std::string> labels{};
  bool is_usable = true;  ///< Ready, not unschedulable, and without a taint that keeps all our pods away
  /// The device that pods there have to ask for: the node has a taint of that name; empty: none.
  std::string reserved_for{};
  friend bool operator==(const KubeNode&, const KubeNode&) = default;
};
/// Reads the answer of GET /api/v1/nodes. kDataLoss: it is no list of nodes.
[[nodiscard]] Result<std::vector<KubeNode>> ParseNodes(std::string_view json);

/// "1500m" -> 1.5; "16Gi" -> bytes; nullopt: no quantity. Source: Kubernetes' resource.Quantity.
[[nodiscard]] std::optional<double> ParseQuantity(std::string_view text);

/// How a pod's shell finds the server, and the agent's program.
using Boot = placement::AgentSource;

/// What one replica's pod asks for.
struct SlotRequest {
  std::int64_t cpu_millis = 1000;
  std::int64_t memory_mib = 0;
  std::string device_resource{};  ///< "nvidia.com/gpu"; empty: none
  std::int64_t devices = 0;
  NodeSelector selector{};
  std::string image{};  ///< of the job's own container; empty: the agent runs Python packages
  friend bool operator==(const SlotRequest&, const SlotRequest&) = default;
};

/// A gang as pods: slot k is the k-th replica.
struct PodsRequest {
  std::vector<SlotRequest> slots;
  std::vector<std::string> notes;  ///< what was asked and what is requested, for the job's log
  /// Why the gang can never fit into the cluster, and what would help; empty: it may fit.
  std::string lack{};
  std::string remedy{};
};

/// @param nodes  of the cluster; empty: they are not known, and the sizes are not reduced.
[[nodiscard]] PodsRequest RequestOf(const placement::Gang& gang, const KubernetesSettings& settings,
                                    std::span<const KubeNode> nodes);

/// Whether a job of the region can get accelerators of the type: a usable node has them, or the settings have
/// a rule for the type, since a cluster may add such nodes when they are asked for. False for TPUs without a
/// rule.
/// @param nodes  empty: they are not known, and any device may be there.
[[nodiscard]] bool HasAccelerator(std::span<const KubeNode> nodes, const KubernetesSettings& settings,
                                  const std::string& region, ml::v1::AcceleratorConfig::Type type);

/// Everything that the objects of one submission are made of.
struct Batch {
  std::string installation;
  Submission submission;
  std::string job_id{};  ///< as an annotation, for people who look with kubectl: it may be no label
  Boot boot{};
  std::optional<std::chrono::seconds> running_limit{};  ///< of the job; activeDeadlineSeconds is later
  /// Google's host names, which lead to the agent inside of the pod; empty: they lead to Google.
  std::vector<std::string> front_names{};
  /// The pods belong to a PodGroup, which has the Secret's name.
  bool has_pod_group = false;
};

/// The immutable Secret with the ticket, as the body of its POST.
[[nodiscard]] std::string SecretJson(const Batch& batch, std::string_view ticket);
/// The PodGroup of all slots, owned by the Secret with that uid, as the body of its POST: the cluster's
/// scheduler places all of its pods or none. Source: scheduling.k8s.io/v1beta1 of Kubernetes 1.37.
[[nodiscard]] std::string PodGroupJson(const Batch& batch, const PodsRequest& request,
                                       const KubernetesSettings& settings, std::string_view secret_uid);
/// The pod of a slot, owned by the Secret with that uid, as the body of its POST.
[[nodiscard]] std::string PodJson(const Batch& batch, const PodsRequest& request, int slot,
                                  const KubernetesSettings& settings, std::string_view secret_uid);

}  // namespace trainyard::kubernetes
