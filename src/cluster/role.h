#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "trainyard/ml/v1/ml.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::cluster {

/// What a TrainingInput says of one of the four roles. References into that TrainingInput.
struct Role {
  replica::v1::TaskType type;
  std::string_view field;  ///< front part of the role's field names: "parameter_server"
  const std::string& machine_type;
  std::int64_t count;  ///< 1 for the master, which has no count
  const ml::v1::ReplicaConfig& config;
  bool has_config;
};

/// Master, workers, parameter servers, evaluators: the order of replicas everywhere. Pure: any thread.
[[nodiscard]] inline std::array<Role, 4> Roles(const ml::v1::TrainingInput& input) {
  return {
      Role{replica::v1::MASTER, "master", input.master_type(), 1, input.master_config(),
           input.has_master_config()},
      Role{replica::v1::WORKER, "worker", input.worker_type(), input.worker_count(), input.worker_config(),
           input.has_worker_config()},
      Role{replica::v1::PARAMETER_SERVER, "parameter_server", input.parameter_server_type(),
           input.parameter_server_count(), input.parameter_server_config(),
           input.has_parameter_server_config()},
      Role{replica::v1::EVALUATOR, "evaluator", input.evaluator_type(), input.evaluator_count(),
           input.evaluator_config(), input.has_evaluator_config()},
  };
}

/// Whether what this replica's program reports counts: that of a trial's master does. Pure: any thread.
[[nodiscard]] inline bool ReportsMetric(const replica::v1::Manifest& manifest) {
  return !manifest.metric_tag().empty() && manifest.replica().type() == replica::v1::MASTER;
}

}  // namespace trainyard::cluster
