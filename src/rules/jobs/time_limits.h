#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::jobs {

/// maxRunningTime of a job that sets none: seven days. Source: discovery document, Scheduling.maxRunningTime.
inline constexpr std::chrono::seconds kMaxRunningTimeDefault{604'800};

/// When the service cancels the job, and the errorMessage it then gets.
struct TimeLimit {
  SysTime time;
  std::string reason;
};

/// The limit that applies now: maxWaitTime from createTime until the job is RUNNING for the first time,
/// maxRunningTime from then on, restarts and retries included. Nothing if there is none, if it is beyond the
/// range of SysTime, and for a trial: the limits belong to the whole tuning job. The job has not ended. Pure:
/// any thread. Source: spec lifecycle.md section 5.
[[nodiscard]] std::optional<TimeLimit> NextTimeLimit(const control::v1::JobRecord& job);

/// What a cluster's queue is told: how long the job may run, and until when it is worth while to start it
/// (nothing: for ever; of a trial the tuning job's limit counts, which nobody else knows). Pure: any thread.
[[nodiscard]] std::chrono::seconds RunningTimeMax(const control::v1::JobRecord& job);
[[nodiscard]] std::optional<SysTime> StartDeadline(const control::v1::JobRecord& job);

}  // namespace trainyard::jobs
