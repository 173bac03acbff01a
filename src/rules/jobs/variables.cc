#include "rules/jobs/variables.h"

#include <utility>

namespace trainyard::jobs {

Secrets TakeSecrets(ml::v1::Job& job) {
  Secrets secrets;
  if (!job.has_training_input()) return secrets;
  for (ml::v1::EnvVar& variable : *job.mutable_training_input()->mutable_env()) {
    if (!variable.secret()) continue;
    secrets[variable.name()] = std::move(*variable.mutable_value());
    variable.clear_value();
  }
  return secrets;
}

ml::v1::TrainingInput WithoutVariables(ml::v1::TrainingInput input) {
  input.clear_env();
  return input;
}

}  // namespace trainyard::jobs
