#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::jobs {

/// maxRunningTime of a job that names none: seven days. Source: discovery document,
/// Scheduling.maxRunningTime.
inline constexpr std::chrono::seconds kMaxRunningTimeDefault{604'800};

/// When the service cancels the job, and what errorMessage then says.
struct TimeLimit {
  SysTime time;
  std::string reason;
};

/// The limit that counts now: maxWaitTime from createTime until the job was RUNNING for the first time,
/// maxRunningTime from then on, restarts and retries included. Nothing when there is none or it lies beyond
/// what SysTime can hold, and for a trial: the limits are the whole tuning job's. The job has not ended.
/// Pure: any thread. Source: spec lifecycle.md section 5.
[[nodiscard]] std::optional<TimeLimit> NextTimeLimit(const control::v1::JobRecord& job);

}  // namespace trainyard::jobs
