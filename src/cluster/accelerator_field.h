#pragma once

#include <string>

#include "trainyard/ml/v1/ml.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::cluster {

/// Which field asks for the accelerators of replicas of that type: "master_config.accelerator_config",
/// "worker_type" where they come with the machine type, "scale_tier" where they come with the tier. For
/// errors. Pure: any thread.
[[nodiscard]] std::string AcceleratorField(const ml::v1::TrainingInput& input, replica::v1::TaskType type);

}  // namespace trainyard::cluster
