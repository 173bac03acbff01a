#pragma once

#include <string>

#include "trainyard/control/v1/record.pb.h"
#include "trainyard/ml/v1/ml.pb.h"

/// What the API shows of a job that runs a built-in algorithm. Pure: any thread. Source: spec algorithms.md
/// section 1.
namespace trainyard::jobs {

/// Makes it such a job, from its creation on. Its replicas ask for no TPU: the original trained on one, our
/// trainers do not. `model_folder` is where below the job-dir its model will be.
void SetAlgorithm(const std::string& name, const std::string& model_folder,
                  const ml::v1::BuiltInAlgorithmOutput& output, control::v1::JobRecord& record);

/// modelPath, of a job without tuning or a trial that has succeeded; changes no other.
void SetModelPath(control::v1::JobRecord& record);

}  // namespace trainyard::jobs
