#pragma once

#include <map>
#include <string>
#include <string_view>

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

}  // namespace trainyard::jobs
