#pragma once

#include <string>

#include "trainyard/control/v1/record.pb.h"
#include "trainyard/ml/v1/ml.pb.h"

/// The API's output fields of a job that runs a built-in algorithm. Pure: any thread. Source: spec
/// algorithms.md section 1.
namespace trainyard::jobs {

/// Marks a new job as running a built-in algorithm. Its replicas request no TPU: Google's trainers use one,
/// ours do not. `model_folder` is the model's folder below the job-dir.
void SetAlgorithm(const std::string& name, const std::string& model_folder,
                  const ml::v1::BuiltInAlgorithmOutput& output, control::v1::JobRecord& record);

/// Sets modelPath if the job is without tuning, or a trial, and has succeeded; does nothing otherwise.
void SetModelPath(control::v1::JobRecord& record);

}  // namespace trainyard::jobs
