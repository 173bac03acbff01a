#include "rules/cluster/role.h"

namespace trainyard::cluster {

std::array<Role, 4> Roles(const ml::v1::TrainingInput& input) {
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

bool ReportsMetric(const replica::v1::Manifest& manifest) {
  return manifest.replica().type() == replica::v1::MASTER;
}

std::string AcceleratorField(const ml::v1::TrainingInput& input, replica::v1::TaskType type) {
  if (input.scale_tier() != ml::v1::TrainingInput::CUSTOM) return "scale_tier";
  for (const Role& role : Roles(input)) {
    if (role.type != type) continue;
    return std::string(role.field) +
           (role.config.accelerator_config().count() > 0 ? "_config.accelerator_config" : "_type");
  }
  return "scale_tier";
}

}  // namespace trainyard::cluster
