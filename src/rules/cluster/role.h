#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "trainyard/ml/v1/ml.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::cluster {

/// The fields of a TrainingInput for one of the four roles. Refers to that TrainingInput.
struct Role {
  replica::v1::TaskType type;
  std::string_view field;  ///< prefix of the role's field names: "parameter_server"
  const std::string& machine_type;
  std::int64_t count;  ///< 1 for the master, which has no count
  const ml::v1::ReplicaConfig& config;
  bool has_config;
};

/// Master, workers, parameter servers, evaluators: the order of replicas everywhere. Pure: any thread.
[[nodiscard]] std::array<Role, 4> Roles(const ml::v1::TrainingInput& input);

/// Whether metrics reported by this replica's program are used. Only a master's are. Pure: any thread.
[[nodiscard]] bool ReportsMetric(const replica::v1::Manifest& manifest);

/// For errors: the field that requests the accelerators of replicas of this type.
/// "master_config.accelerator_config", or "worker_type" if the machine type includes them, or "scale_tier" if
/// the tier does. Pure: any thread.
[[nodiscard]] std::string AcceleratorField(const ml::v1::TrainingInput& input, replica::v1::TaskType type);

}  // namespace trainyard::cluster
