#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::jobs {

/// The record of a new job: WithDefaults(job), createTime, its replicas with their machines, the cluster
/// hash, notes about what the job asks for and does not get. Without uid (the store gives it), revision
/// (Apply does) and packages (the caller looks them up).
///
/// @param validated        passed Validate.
/// @param runtime_version  what runtimeVersion was resolved to.
/// Pure: any thread.
[[nodiscard]] control::v1::JobRecord MakeRecord(std::string project, const ml::v1::Job& validated,
                                                std::string runtime_version, SysTime now);

/// Ten hex digits from project and job id, the same on every machine: in every host name of the job.
[[nodiscard]] std::string ClusterHash(std::string_view project, std::string_view job_id);

}  // namespace trainyard::jobs
