#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"
#include "google/cloud/aiplatform/v1/aiplatform.pb.h"
#include "rules/vertex/custom_job.h"
#include "trainyard/ml/v1/ml.pb.h"

/// Hyperparameter tuning jobs of Vertex AI as tuning jobs of ml v1 and back. Pure: any thread. Source: spec
/// vertex.md sections 6 and 9.
namespace trainyard::vertex {

/// The job for a request to create a tuning job: that of its trial_job_spec, with hyperparameters. Output
/// fields of `asked` are ignored. Ranges and values of parameters are for jobs::Validate, whose errors
/// InTuningJob translates.
///
/// @param location  the region in the request's path
/// @param number  the tuning job's id; the job's own is JobIdOf(number)
/// @return kInvalidArgument with everything that is wrong, in the form that custom_job.h describes, with
///     fields such as "study_spec.parameters[0]" and "trial_job_spec.worker_pool_specs[0].replica_count".
[[nodiscard]] Result<Translated> JobOf(const aip::HyperparameterTuningJob& asked, const std::string& location,
                                       std::int64_t number);

/// The tuning job as methods answer it: as it was requested, with the state, times, error and trials of
/// `now`. Trials are in the order of their numbers, and their parameters in the order of the request.
///
/// @param now  the job as ml v1 shows it
/// @param name  "projects/P/locations/L/hyperparameterTuningJobs/N"
[[nodiscard]] aip::HyperparameterTuningJob TuningJobOf(const aip::HyperparameterTuningJob& asked,
                                                       const ml::v1::Job& now, std::string name);

/// A tuning job that describes one which was created by ml v1, as far as its fields can.
[[nodiscard]] aip::HyperparameterTuningJob TuningJobOf(const ml::v1::Job& now, std::string name);

/// "study_spec.parameters[2].parameter_id" for "hyperparameters.params[2].parameter_name", and a field of
/// trial_job_spec where CustomJobField returns one of job_spec. The other fields of a parameter become the
/// parameter's own path: the member that contains them depends on its kind.
[[nodiscard]] std::string TuningJobField(const aip::HyperparameterTuningJob& asked,
                                         std::string_view ml_field);

/// The error about the job of ml v1 with the fields of the tuning job. See InCustomJob (error_fields.h).
[[nodiscard]] Error InTuningJob(const aip::HyperparameterTuningJob& asked, Error error);

}  // namespace trainyard::vertex
