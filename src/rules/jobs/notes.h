#pragma once

#include <string>
#include <vector>

#include "rules/jobs/prepare.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::jobs {

/// What a valid training input asks for and does not get on this server, one sentence each, for the job's
/// log: the user is told about every field that is ignored. In the order of the API's fields: roles,
/// settings, hyperparameters. These are the fields that docs/compatibility.md calls "noted". Pure: any
/// thread.
[[nodiscard]] std::vector<std::string> Notes(const ml::v1::TrainingInput& validated,
                                             const RoleImages& containers = {});

}  // namespace trainyard::jobs
