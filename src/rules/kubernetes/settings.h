#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

/// The operator's settings for Kubernetes: the flags of `serve` that begin with --kubernetes. Values.
/// docs/kubernetes.md.
namespace trainyard::kubernetes {

/// Labels that a pod's node must have: nodeSelector.
using NodeSelector = std::map<std::string, std::string>;

/// What a machine type asks for. Absent values are those of Google's machine type.
struct PodMachine {
  std::optional<std::int64_t> cpu_millis{};  ///< thousandths of a CPU
  std::optional<std::int64_t> memory_mib{};
  NodeSelector selector{};  ///< added to that of the engine
  friend bool operator==(const PodMachine&, const PodMachine&) = default;
};

/// How a pod asks for accelerators of one type.
struct AcceleratorOptions {
  std::string resource = "nvidia.com/gpu";
  NodeSelector selector{};  ///< added to those of the engine and of the machine type
  friend bool operator==(const AcceleratorOptions&, const AcceleratorOptions&) = default;
};

enum class Sizes {
  kFit,     ///< a replica's request is reduced to the largest node, and the job's log says so
  kStrict,  ///< a replica whose machine type is larger than every node never starts
};

/// The user of our own containers: PodSecurity "restricted" forbids root.
inline constexpr int kAccount = 1000;

struct KubernetesSettings {
  std::string kubeconfig{};  ///< path; empty: $KUBECONFIG, then ~/.kube/config, then a pod's own account
  std::string context{};     ///< of the kubeconfig; empty: its current one
  std::string name_space{};  ///< of all pods; empty: the context's, else "default"
  /// The image of pods that run Python packages. It needs bash, coreutils and a C library as new as the
  /// server's program.
  std::string image = "docker.io/library/python:3.11-slim-bookworm";
  /// The user of containers with a job's own image; nullopt: the image's USER, which may be root.
  std::optional<int> container_user = kAccount;
  std::string pull_secret{};      ///< the name of a Secret for the image's registry; empty: none
  std::string service_account{};  ///< of the pods; empty: the namespace's default one, without its token
  std::string priority_class{};   ///< empty: the cluster's default
  std::string queue{};            ///< Kueue's LocalQueue; empty: Kueue is not used
  /// A PersistentVolumeClaim for environments, which all pods share; empty: each pod builds its own.
  std::string cache{};
  NodeSelector selector{};
  std::map<std::string, NodeSelector> regions{};             ///< added for jobs of a region
  std::map<std::string, PodMachine> machine_types{};         ///< by Google's name
  std::map<std::string, AcceleratorOptions> accelerators{};  ///< by the API's name, "nvidia-tesla-t4"
  Sizes sizes = Sizes::kFit;
  /// How long a gang whose pods exist may wait for nodes before it gives its turn to the next one.
  std::chrono::seconds turn{60};
  /// How long a pod that has a node may need for its image before its job is given up.
  std::chrono::seconds pull_max{1'800};
};

}  // namespace trainyard::kubernetes
