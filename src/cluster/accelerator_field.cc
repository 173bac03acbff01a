#include "cluster/accelerator_field.h"

#include "cluster/role.h"

namespace trainyard::cluster {

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
