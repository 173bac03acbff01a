#pragma once

#include <string>
#include <vector>

#include "jobs/prepare.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::jobs {

/// What a valid training input asks for and does not get here, a sentence each, for the job's log: nothing
/// that a user wrote is ignored in silence. In the order of the API's fields of the roles, then of the
/// settings, then of the hyperparameters. What the table of compatibility calls "noted". Pure: any thread.
[[nodiscard]] std::vector<std::string> Notes(const ml::v1::TrainingInput& validated,
                                             const RoleImages& containers = {});

}  // namespace trainyard::jobs
