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

/// What a gang asks Slurm for. Pure: any thread.

namespace trainyard::slurm {

// What the operator says of Slurm: the flags of `serve` that begin with --slurm. Values. docs/slurm.md.

/// What jobs of one partition, or with one machine type, ask sbatch for.
struct Options {
  std::string partition{};           ///< empty: Slurm's default
  std::string account{};             ///< empty: Slurm's default
  std::string qos{};                 ///< empty: Slurm's default
  std::string constraint{};          ///< empty: none
  std::vector<std::string> lines{};  ///< further options of sbatch, as "--exclusive"
  friend bool operator==(const Options&, const Options&) = default;
};

/// The engine's, where the machine type's say nothing else; lines are added. Pure: any thread.
[[nodiscard]] Options WithOptionsOf(Options options, const Options& machine);

/// What a machine type becomes. What is absent is as the original's machine has it.
struct MachineOptions {
  std::optional<int> cpus{};
  std::optional<std::int64_t> memory_mib{};
  Options options{};  ///< each one that is given replaces the engine's; lines are added
  friend bool operator==(const MachineOptions&, const MachineOptions&) = default;
};

enum class Sizes {
  kFit,     ///< a replica gets at most what the largest node has, and the job's log says so
  kStrict,  ///< a machine type that no node can be never starts
};

/// In place of a type of Slurm's GPUs: whatever type.
inline constexpr std::string_view kAnyGpu = "any";

struct SlurmSettings {
  Options options{};
  /// Partitions of regions that have one of their own: "us-central1" -> "gpu".
  std::map<std::string, std::string> regions{};
  std::map<std::string, MachineOptions> machine_types{};  ///< by name of the original
  /// "nvidia-tesla-k80" -> "a100", a type of Slurm's GPUs; "any": of whatever type. Absent: GPUs of that
  /// name, or else any.
  std::map<std::string, std::string> accelerators{};
  Sizes sizes = Sizes::kFit;
  /// What a job of priority 0 gets as --nice; one of priority 1000 gets 0. It may be 0: priorities mean
  /// nothing to Slurm.
  int nice = 100;
};

/// Replicas with equal needs: one component of a job of Slurm.
struct Component {
  std::vector<int> replicas;    ///< positions in the gang
  int cpus = 1;                 ///< of each
  std::int64_t memory_mib = 0;  ///< of each; 0: not said, because Slurm does not count memory
  int gpus = 0;                 ///< of each
  std::string gpu_type{};       ///< empty: of any type
  Options options{};
  friend bool operator==(const Component&, const Component&) = default;
};

/// A gang as a job of Slurm. Slot k belongs to the k-th replica of the components in their order.
struct GangRequest {
  std::vector<Component> components;
  std::vector<std::string> notes;  ///< what was asked for and what is, for the job's log
  /// How long its partitions let jobs run; nothing: for ever, or it is not known.
  std::optional<std::chrono::minutes> time_max{};
  /// Why the cluster can never hold it, and what would help; empty: it may.
  std::string lack{};
  std::string remedy{};
  friend bool operator==(const GangRequest&, const GangRequest&) = default;
};

/// One component is a plain job, several are a heterogeneous one, which waits for Slurm's backfill pass: so
/// replicas share a component wherever they can.
///
/// @param nodes  what sinfo said, or KindsOf it; empty: it could not be asked, and the sizes are not fitted.
[[nodiscard]] GangRequest RequestOf(const placement::Gang& gang, const SlurmSettings& settings,
                                    std::span<const Node> nodes);

/// What jobs of the region ask for on a machine of that type; null: one without a rule of its own. A machine
/// type's own partition counts more than a region's: such machines are nowhere else.
[[nodiscard]] Options OptionsOf(const SlurmSettings& settings, const std::string& region,
                                const MachineOptions* machine);

/// The replica of each slot.
[[nodiscard]] std::vector<int> ReplicasOfSlots(const GangRequest& request);

// Which GPUs a cluster has, and for which accelerators of the original they stand. Pure: any thread.

/// A type of GPUs in one spelling: "nvidia-tesla-t4", "Tesla_T4" and "t4" are one.
[[nodiscard]] std::string GpuKey(std::string_view type);

/// The types (GpuKey; empty: Slurm names none) on the usable nodes of each partition; those of the default
/// one also under an empty name.
using PartitionGpus = std::map<std::string, std::set<std::string>>;
[[nodiscard]] PartitionGpus GpusByPartition(std::span<const Node> nodes);

/// Whether a job of the region can get accelerators of the type, on a machine of whatever type: as
/// RequestOf asks for them. Always false for TPUs.
///
/// @param gpus  empty: the nodes are not known, and any GPU may be there.
[[nodiscard]] bool HasAccelerator(const PartitionGpus& gpus, const SlurmSettings& settings,
                                  const std::string& region, ml::v1::AcceleratorConfig::Type type);

}  // namespace trainyard::slurm
