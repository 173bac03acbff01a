#pragma once

#include <optional>

#include "control/run/runner_registry.h"
#include "rules/jobs/waiting.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/control/v1/usage.pb.h"

/// The report of which projects and jobs use what. Pure, any thread, unless noted.
namespace trainyard::control {

/// The entry of an unfinished job or trial; without what the machine knows. `waiting`: why it is not running
/// yet.
[[nodiscard]] v1::UsageReport::Job UsageOf(const v1::JobRecord& job,
                                           const std::optional<jobs::Waiting>& waiting);

/// Adds all unfinished jobs and trials. Loop thread.
void AddJobs(const RunnerRegistry& registry, v1::UsageReport& report);

/// Completes a report that has its jobs, the machine, and the projects with recent use and bytes: adds the
/// types of GPUs, each job's share of the machine, how many jobs each project runs and has queued (and
/// projects that only have jobs), and the orders. Calling it again changes nothing.
void CompleteReport(v1::UsageReport& report);

}  // namespace trainyard::control
