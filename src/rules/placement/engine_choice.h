#pragma once

#include <map>
#include <string>
#include <string_view>

#include "rules/placement/device_pool.h"
#include "rules/placement/gang.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::placement {

/// The engines on which jobs run, by region: --engine and --regions. Pure, as the functions below.
struct EngineChoice {
  enum class Kind {
    kLocal,  ///< on this machine
    kSlurm,  ///< on the nodes of a cluster
  };
  Kind kind = Kind::kLocal;               ///< for regions that are not in `regions`
  std::map<std::string, Kind> regions{};  ///< engine by region
};

/// Whether any job goes to the engine with this name (kLocalEngine, kSlurmEngine).
[[nodiscard]] bool Uses(const EngineChoice& choice, std::string_view engine);
/// The name of the engine for the gang. Decided by its region; or else, if it requests accelerators that this
/// machine lacks, by where they may be; or else by --engine. `here`: the devices of this machine. Only if a
/// job may go to Slurm.
[[nodiscard]] std::string_view EngineOf(const EngineChoice& choice, const DevicePool& here, const Gang& gang);
/// The name of the engine that starts attempts in slots with this agent (Slot.agent): only a cluster has
/// agents.
[[nodiscard]] std::string_view EngineOfAgent(std::string_view agent);
/// The name of the engine that made the grant.
[[nodiscard]] std::string_view EngineOf(const replica::v1::Grant& grant);

}  // namespace trainyard::placement
