#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::jobs {

/// The image that the replicas of a role run as containers, as the job names it. A role that is missing in
/// the map uses the job's runtime version.
using RoleImages = std::map<replica::v1::TaskType, std::string>;

/// The image of each role, its own or the master's. A role with an image need not run as a container.
[[nodiscard]] RoleImages NamedImages(const ml::v1::TrainingInput& input);

/// The record of a new job: WithDefaults(job), createTime, its replicas with their machines and images, the
/// cluster hash, notes about what the job requests and does not get. Not set: uid (by the store), revision
/// (by Apply), packages and the images' digests (by the caller).
///
/// @param validated        a job that passed Validate.
/// @param runtime_version  the resolved runtimeVersion; empty if all replicas run containers.
/// Pure: any thread.
[[nodiscard]] control::v1::JobRecord MakeRecord(std::string project, const ml::v1::Job& validated,
                                                std::string runtime_version, SysTime now,
                                                const RoleImages& containers = {});

/// Ten hex digits from project and job id, the same on every machine; part of every host name of the job.
[[nodiscard]] std::string ClusterHash(std::string_view project, std::string_view job_id);

/// The job as it is stored: what only the server may set is cleared (state, times, errorMessage, jobPosition,
/// etag, outputs), state is QUEUED, trainingOutput is set (`trainingOutput: {}`) and has the kind of job. The
/// training input is not changed: absent values keep their documented meaning (scale tier BASIC,
/// maxRunningTime 7 days) and are not shown. Pure: any thread.
[[nodiscard]] ml::v1::Job WithDefaults(ml::v1::Job job);

/// Sentences for the job's log about everything that a valid training input requests and this server does not
/// provide: the user is told about every field that is ignored. In the order of the API's fields: roles,
/// settings, hyperparameters. These are the fields that docs/compatibility.md calls "noted". Pure: any
/// thread.
[[nodiscard]] std::vector<std::string> Notes(const ml::v1::TrainingInput& validated,
                                             const RoleImages& containers = {});

// The environment variables that the job sets (TrainingInput.env). Pure: any thread.

/// Values of secrets by the variable's name.
using Secrets = std::map<std::string, std::string>;

/// Removes the values of the secrets from the job and returns them; their names stay in the job.
[[nodiscard]] Secrets TakeSecrets(ml::v1::Job& job);

/// The job's input for TF_CONFIG: without the fields that only Trainyard has. A new one must be cleared here.
[[nodiscard]] ml::v1::TrainingInput WithoutOwnFields(ml::v1::TrainingInput input);

// The API's output fields of a job that runs a built-in algorithm. Pure: any thread. Source: spec
// algorithms.md section 1.

/// Marks a new job as running a built-in algorithm. Its replicas request no TPU: Google's trainers use one,
/// ours do not. `model_folder` is the model's folder below the job-dir.
void SetAlgorithm(const std::string& name, const std::string& model_folder,
                  const ml::v1::BuiltInAlgorithmOutput& output, control::v1::JobRecord& record);

/// Sets modelPath if the job is without tuning, or a trial, and has succeeded; does nothing otherwise.
void SetModelPath(control::v1::JobRecord& record);

}  // namespace trainyard::jobs
