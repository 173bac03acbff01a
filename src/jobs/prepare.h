#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::jobs {

/// By role: the image, as the job says, that the role's replicas run as containers. A role that is absent
/// runs in the job's runtime version.
using RoleImages = std::map<replica::v1::TaskType, std::string>;

/// The image that each role names, or has from the master; whether it runs as a container is not said.
[[nodiscard]] RoleImages NamedImages(const ml::v1::TrainingInput& input);

/// The record of a new job: WithDefaults(job), createTime, its replicas with their machines and images, the
/// cluster hash, notes about what the job asks for and does not get. Without uid (the store gives it),
/// revision (Apply does), packages and what the images are now (the caller looks them up).
///
/// @param validated        passed Validate.
/// @param runtime_version  what runtimeVersion was resolved to; empty where all run containers.
/// Pure: any thread.
[[nodiscard]] control::v1::JobRecord MakeRecord(std::string project, const ml::v1::Job& validated,
                                                std::string runtime_version, SysTime now,
                                                const RoleImages& containers = {});

/// Ten hex digits from project and job id, the same on every machine: in every host name of the job.
[[nodiscard]] std::string ClusterHash(std::string_view project, std::string_view job_id);

/// The job as it is stored: what only the server may set is cleared (state, times, errorMessage, jobPosition,
/// etag, outputs), state is QUEUED, trainingOutput is there (`trainingOutput: {}`) and says what kind of job
/// it is. The training input stays as the user wrote it: values that are absent keep their documented meaning
/// (scale tier BASIC, maxRunningTime 7 days) without being shown. Pure: any thread.
[[nodiscard]] ml::v1::Job WithDefaults(ml::v1::Job job);

}  // namespace trainyard::jobs
