#include "control/run/maintenance.h"

#include <string>

#include "rules/cluster/task_name.h"
#include "rules/jobs/transition_table.h"

namespace trainyard::control {
namespace {

constexpr int kNamesMax = 16;

Error NoSuchReplica(const v1::JobRecord& job, std::string_view task_name) {
  std::string names;
  for (int i = 0; i < std::min(job.replicas_size(), kNamesMax); ++i)
    names += (i == 0 ? "" : ", ") + cluster::TaskName(job.replicas(i).id());
  if (job.replicas_size() > kNamesMax) names += ", ...";
  return {Code::kNotFound,
          "The job " + job.job().job_id() + " has no replica '" + std::string(task_name) + "'. It has " +
              names + ".",
          "replica"};
}

}  // namespace

Result<v1::Event> MaintenanceOf(const v1::JobRecord& job, std::string_view task_name) {
  for (const v1::ReplicaRecord& replica : job.replicas()) {
    if (cluster::TaskName(replica.id()) != task_name) continue;
    v1::Event event;
    *event.mutable_maintenance_requested()->mutable_replica() = replica.id();
    event.mutable_maintenance_requested()->set_attempt(replica.attempt());
    if (jobs::Apply(job, event)) return event;
    const std::string why = replica.maintenance()
                                ? "it is being moved already"
                                : "the job is " + ml::v1::Job::State_Name(job.job().state());
    return std::unexpected(FailedPrecondition("The replica " + std::string(task_name) + " of job " +
                                              job.job().job_id() + " does not run: " + why + "."));
  }
  return std::unexpected(NoSuchReplica(job, task_name));
}

}  // namespace trainyard::control
