#pragma once

#include <string>
#include <vector>

#include "rules/jobs/prepare.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::jobs {

/// Sentences for the job's log about everything that a valid training input requests and this server does not
/// provide: the user is told about every field that is ignored. In the order of the API's fields: roles,
/// settings, hyperparameters. These are the fields that docs/compatibility.md calls "noted". Pure: any
/// thread.
[[nodiscard]] std::vector<std::string> Notes(const ml::v1::TrainingInput& validated,
                                             const RoleImages& containers = {});

}  // namespace trainyard::jobs
