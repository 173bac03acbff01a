#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/result.h"
#include "google/cloud/aiplatform/v1/aiplatform.pb.h"
#include "rules/vertex/custom_job.h"
#include "trainyard/ml/v1/ml.pb.h"

/// Training pipelines of Vertex AI that run one custom job or one tuning job, as that job and back. Pure: any
/// thread. Source: spec vertex.md sections 1 (the form of training_task_inputs) and 7.
namespace trainyard::vertex {

/// Whether the pipeline's task tunes hyperparameters: the job behind it is a tuning job.
[[nodiscard]] bool IsTuning(const aip::TrainingPipeline& asked);

/// The job for a request to create a training pipeline, with the display name of the job behind it. Output
/// fields of `asked` are ignored.
///
/// @param location  the region in the request's path
/// @param number  the id of the job behind the pipeline; the job's own is JobIdOf(number)
/// @return kInvalidArgument with everything that is wrong, in the form that custom_job.h describes, with
///     fields such as "training_task_inputs.worker_pool_specs[0].replica_count"; a pipeline with another
///     task or a managed dataset is rejected.
[[nodiscard]] Result<Translated> JobOf(const aip::TrainingPipeline& asked, const std::string& location,
                                       std::int64_t number);

/// The names of what one pipeline consists of.
struct PipelineNames {
  std::string pipeline;     ///< "projects/P/locations/L/trainingPipelines/N"
  std::string backing_job;  ///< "projects/P/locations/L/customJobs/N", or one of hyperparameterTuningJobs
  std::string model;        ///< "projects/P/locations/L/models/N"
};

/// The pipeline as methods answer it: as it was requested, with the state, times and error of `now`, and the
/// name of the job behind it as "backingCustomJob" or "backingHyperparameterTuningJob"; that of the model, if
/// there is one (HasModel, model.h).
///
/// @param now  the job as ml v1 shows it
[[nodiscard]] aip::TrainingPipeline PipelineOf(const aip::TrainingPipeline& asked, const ml::v1::Job& now,
                                               PipelineNames names);

/// The custom job behind a pipeline of the custom task: "X-custom-job" for the pipeline "X", with its labels.
///
/// @return kInvalidArgument for another task, and for inputs that are not a CustomJobSpec.
[[nodiscard]] Result<aip::CustomJob> BackingJobOf(const aip::TrainingPipeline& asked);

/// The same for the tuning task: "X-hyperparameter-tuning-job".
[[nodiscard]] Result<aip::HyperparameterTuningJob> BackingTuningJobOf(const aip::TrainingPipeline& asked);

/// The error about the job of ml v1 with the fields of the pipeline. See InCustomJob (error_fields.h).
[[nodiscard]] Error InTrainingPipeline(const aip::TrainingPipeline& asked, Error error);

}  // namespace trainyard::vertex
