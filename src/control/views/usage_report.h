#pragma once

#include <optional>

#include "control/run/runner_registry.h"
#include "rules/jobs/waiting.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/control/v1/usage.pb.h"

/// Who uses what. Pure, any thread, where nothing else is said.
namespace trainyard::control {

/// A job or trial that has not ended; without what the machine knows. `waiting`: why it does not run yet.
[[nodiscard]] v1::UsageReport::Job UsageOf(const v1::JobRecord& job,
                                           const std::optional<jobs::Waiting>& waiting);

/// Adds every job and trial that has not ended. Loop thread.
void AddJobs(const RunnerRegistry& registry, v1::UsageReport& report);

/// Completes a report that has its jobs, the machine, and the projects with recent use and bytes: the types
/// of GPUs and each job's share of the machine, how many jobs each project runs and queues (projects with
/// jobs alone are added), and the orders. A second time it changes nothing.
void CompleteReport(v1::UsageReport& report);

}  // namespace trainyard::control
