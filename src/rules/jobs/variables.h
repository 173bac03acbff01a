#pragma once

#include <map>
#include <string>

#include "trainyard/ml/v1/ml.pb.h"

/// The environment variables that the job sets (TrainingInput.env). Pure: any thread.
namespace trainyard::jobs {

/// Values of secrets by the variable's name.
using Secrets = std::map<std::string, std::string>;

/// Removes the values of the secrets from the job and returns them; their names stay in the job.
[[nodiscard]] Secrets TakeSecrets(ml::v1::Job& job);

/// The job's input for TF_CONFIG: only fields that Google's service has. The program has its variables.
[[nodiscard]] ml::v1::TrainingInput WithoutVariables(ml::v1::TrainingInput input);

}  // namespace trainyard::jobs
