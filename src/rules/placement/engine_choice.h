#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "rules/placement/device_pool.h"
#include "rules/placement/gang.h"
#include "trainyard/ml/v1/ml.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::placement {

/// The engines on which jobs run, by region: --engine and --regions. Pure, as the functions below.
struct EngineChoice {
  enum class Kind {
    kLocal,       ///< on this machine
    kSlurm,       ///< on the nodes of a Slurm cluster
    kKubernetes,  ///< in pods of a Kubernetes cluster
  };
  Kind kind = Kind::kLocal;               ///< for regions that are not in `regions`
  std::map<std::string, Kind> regions{};  ///< engine by region
};

/// Whether any job goes to the engine with this name (kLocalEngine, kSlurmEngine, kKubernetesEngine).
[[nodiscard]] bool Uses(const EngineChoice& choice, std::string_view engine);
/// The name of the engine for the gang. Decided by its region; or else, if it requests accelerators that this
/// machine lacks, by the cluster that jobs use; or else by --engine. `here`: the devices of this machine.
/// Only if a job may go to a cluster.
[[nodiscard]] std::string_view EngineOf(const EngineChoice& choice, const DevicePool& here, const Gang& gang);
/// Whether a job of the region that requests accelerators of the type can get them on its engine, or runs
/// without because of the operator's table. A server without a cluster on a machine without accelerators
/// returns true, like Google's service.
///
/// @param here  the devices of this machine.
/// @param there  whether the cluster with that engine's name has them; null: no job goes to a cluster.
/// docs/adr/0058.
[[nodiscard]] bool OffersAccelerator(const EngineChoice& choice, const DevicePool& here,
                                     const std::string& region, ml::v1::AcceleratorConfig::Type type,
                                     const std::function<bool(std::string_view engine)>& there);
/// The name of the engine that starts attempts in slots with this agent (Slot.agent): only a cluster has
/// agents.
[[nodiscard]] std::string_view EngineOfAgent(std::string_view agent);
/// The name of the engine that made the grant.
[[nodiscard]] std::string_view EngineOf(const replica::v1::Grant& grant);

}  // namespace trainyard::placement
