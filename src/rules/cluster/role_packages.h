#pragma once

#include <string>
#include <vector>

#include "trainyard/control/v1/record.pb.h"
#include "trainyard/ml/v1/ml.pb.h"

/// The Python packages of a job, and of roles that have their own. The results refer to the arguments. Pure:
/// any thread.
namespace trainyard::cluster {

using Packages = google::protobuf::RepeatedPtrField<replica::v1::Manifest::Package>;

/// The module that replicas of the role run: its own, or the job's; empty: they run what their image says. A
/// container's command or arguments take its place (see jobs::Notes).
/// @param config  the role's, in `input`
[[nodiscard]] const std::string& ModuleOf(const ml::v1::TrainingInput& input,
                                          const ml::v1::ReplicaConfig& config);

/// The packages of the role's replicas, as they were looked up when the job was created: its own, or the
/// job's.
[[nodiscard]] const Packages& PackagesOf(const control::v1::JobRecord& job, replica::v1::TaskType role);

/// The job's packages, then those of each role that has its own: what may be installed for the job.
[[nodiscard]] std::vector<const Packages*> PackageLists(const control::v1::JobRecord& job);

}  // namespace trainyard::cluster
