#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rules/placement/gang.h"
#include "rules/slurm/node_list.h"
#include "trainyard/ml/v1/ml.pb.h"

/// A gang's request to Slurm. Pure: any thread.

namespace trainyard::slurm {

// The operator's settings for Slurm: the flags of `serve` that begin with --slurm. Values. docs/slurm.md.

/// The options of sbatch for jobs of one partition, or with one machine type.
struct Options {
  std::string partition{};           ///< empty: Slurm's default
  std::string account{};             ///< empty: Slurm's default
  std::string qos{};                 ///< empty: Slurm's default
  std::string constraint{};          ///< empty: none
  std::vector<std::string> lines{};  ///< further options of sbatch, such as "--exclusive"
  friend bool operator==(const Options&, const Options&) = default;
};

/// The engine's options, overridden by those of the machine type; lines are appended. Pure: any thread.
[[nodiscard]] Options WithOptionsOf(Options options, const Options& machine);

/// The resources for a machine type. Absent values are those of Google's machine type.
struct MachineOptions {
  std::optional<int> cpus{};
  std::optional<std::int64_t> memory_mib{};
  Options options{};  ///< each one that is set replaces the engine's; lines are appended
  friend bool operator==(const MachineOptions&, const MachineOptions&) = default;
};

enum class Sizes {
  kFit,     ///< a replica's request is reduced to the largest node, and the job's log says so
  kStrict,  ///< a replica whose machine type is larger than every node never starts
};

/// Used instead of a type of Slurm's GPUs: any type.
inline constexpr std::string_view kAnyGpu = "any";

struct SlurmSettings {
  Options options{};
  /// Partitions of regions that do not use the default: "us-central1" -> "gpu".
  std::map<std::string, std::string> regions{};
  std::map<std::string, MachineOptions> machine_types{};  ///< by Google's name
  /// "nvidia-tesla-k80" -> "a100", a type of Slurm's GPUs; "any": any type. If a type is missing: GPUs of
  /// that name, or else any.
  std::map<std::string, std::string> accelerators{};
  Sizes sizes = Sizes::kFit;
  /// The value of --nice for a job of priority 0; one of priority 1000 gets 0. With 0, priorities have no
  /// effect in Slurm.
  int nice = 100;
};

/// Replicas with equal requests: one component of a Slurm job.
struct Component {
  std::vector<int> replicas;    ///< positions in the gang
  int cpus = 1;                 ///< of each
  std::int64_t memory_mib = 0;  ///< of each; 0: not requested, because Slurm does not count memory
  int gpus = 0;                 ///< of each
  std::string gpu_type{};       ///< empty: of any type
  Options options{};
  friend bool operator==(const Component&, const Component&) = default;
};

/// A gang as a Slurm job. Slot k belongs to the k-th replica of the components in their order.
struct GangRequest {
  std::vector<Component> components;
  std::vector<std::string> notes;  ///< the job's request and the request to Slurm, for the job's log
  /// The time limit of its partitions; nullopt: none, or not known.
  std::optional<std::chrono::minutes> time_max{};
  /// Why the gang can never fit into the cluster, and what would help; empty: it may fit.
  std::string lack{};
  std::string remedy{};
  friend bool operator==(const GangRequest&, const GangRequest&) = default;
};

/// One component is a plain job, several are a heterogeneous job, which waits for Slurm's backfill pass. So
/// replicas share a component if possible.
///
/// @param nodes  the nodes from sinfo, or KindsOf them; empty: sinfo failed, and the sizes are not reduced.
[[nodiscard]] GangRequest RequestOf(const placement::Gang& gang, const SlurmSettings& settings,
                                    std::span<const Node> nodes);

/// The options for jobs of the region on a machine of that type; null: a type without its own rule. A machine
/// type's partition has precedence over a region's: such machines are nowhere else.
[[nodiscard]] Options OptionsOf(const SlurmSettings& settings, const std::string& region,
                                const MachineOptions* machine);

/// The replica of each slot.
[[nodiscard]] std::vector<int> ReplicasOfSlots(const GangRequest& request);

// Which GPUs a cluster has, and for which of Google's accelerators they are used. Pure: any thread.

/// A type of GPUs in one spelling: "nvidia-tesla-t4", "Tesla_T4" and "t4" are the same.
[[nodiscard]] std::string GpuKey(std::string_view type);

/// The types (GpuKey; empty: Slurm names none) on the usable nodes of each partition; those of the default
/// one also under an empty name.
using PartitionGpus = std::map<std::string, std::set<std::string>>;
[[nodiscard]] PartitionGpus GpusByPartition(std::span<const Node> nodes);

/// Whether a job of the region can get accelerators of the type, on a machine of any type, with a request by
/// RequestOf. Always false for TPUs.
///
/// @param gpus  empty: the nodes are not known, and any GPU may be there.
[[nodiscard]] bool HasAccelerator(const PartitionGpus& gpus, const SlurmSettings& settings,
                                  const std::string& region, ml::v1::AcceleratorConfig::Type type);

}  // namespace trainyard::slurm
