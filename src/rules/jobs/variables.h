#pragma once

#include <map>
#include <string>

#include "trainyard/ml/v1/ml.pb.h"

/// The job's own variables (TrainingInput.env). Pure: any thread.
namespace trainyard::jobs {

/// Values of secrets by the variable's name.
using Secrets = std::map<std::string, std::string>;

/// Takes the values of the secrets out of the job; their names stay.
[[nodiscard]] Secrets TakeSecrets(ml::v1::Job& job);

/// What TF_CONFIG shows of the job's input: what the original knows of. The variables are beside it already.
[[nodiscard]] ml::v1::TrainingInput WithoutVariables(ml::v1::TrainingInput input);

}  // namespace trainyard::jobs
