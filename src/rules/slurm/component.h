#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rules/placement/gang.h"
#include "rules/slurm/node_list.h"
#include "rules/slurm/settings.h"

/// What a gang asks Slurm for. Pure: any thread.
namespace trainyard::slurm {

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

}  // namespace trainyard::slurm
