#include "jobs/with_defaults.h"

#include <utility>

namespace trainyard::jobs {

ml::v1::Job WithDefaults(ml::v1::Job job) {
  job.clear_create_time();
  job.clear_start_time();
  job.clear_end_time();
  job.clear_error_message();
  job.clear_etag();
  job.clear_job_position();
  job.clear_prediction_output();
  job.clear_training_output();
  job.set_state(ml::v1::Job::QUEUED);
  ml::v1::TrainingOutput& output = *job.mutable_training_output();
  if (job.training_input().has_hyperparameters()) {
    const std::string& tag = job.training_input().hyperparameters().hyperparameter_metric_tag();
    output.set_is_hyperparameter_tuning_job(true);
    output.set_hyperparameter_metric_tag(tag.empty() ? "training/hptuning/metric" : tag);
  }
  return job;
}

}  // namespace trainyard::jobs
