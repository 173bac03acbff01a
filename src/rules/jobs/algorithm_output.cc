#include "rules/jobs/algorithm_output.h"

#include "rules/cluster/machine_type.h"
#include "rules/jobs/trial.h"

namespace trainyard::jobs {

void SetAlgorithm(const std::string& name, const std::string& model_folder,
                  const ml::v1::BuiltInAlgorithmOutput& output, control::v1::JobRecord& record) {
  record.set_algorithm(name);
  record.set_model_folder(model_folder);
  ml::v1::TrainingOutput& shown = *record.mutable_job()->mutable_training_output();
  shown.set_is_built_in_algorithm_job(true);
  *shown.mutable_built_in_algorithm_output() = output;
  for (control::v1::ReplicaRecord& replica : *record.mutable_replicas())
    if (cluster::IsTpu(replica.accelerators().type())) replica.clear_accelerators();
}

void SetModelPath(control::v1::JobRecord& record) {
  ml::v1::Job& job = *record.mutable_job();
  if (record.algorithm().empty() || record.has_tuning() || job.state() != ml::v1::Job::SUCCEEDED) return;
  std::string path = JobDirOf(record);
  if (!path.ends_with('/')) path += '/';
  job.mutable_training_output()->mutable_built_in_algorithm_output()->set_model_path(path +
                                                                                     record.model_folder());
}

}  // namespace trainyard::jobs
