#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::jobs {

/// maxRunningTime of a job that sets none: seven days. Source: discovery document, Scheduling.maxRunningTime.
inline constexpr std::chrono::seconds kMaxRunningTimeDefault{604'800};

/// The time when the service cancels the job, and the job's errorMessage then.
struct TimeLimit {
  SysTime time;
  std::string reason;
};

/// The limit that applies now: maxWaitTime from createTime until the job is RUNNING for the first time,
/// maxRunningTime from then on, restarts and retries included. Nullopt if there is none, if it is beyond the
/// range of SysTime, and for a trial: the limits apply to the whole tuning job. The job must not have ended.
/// Pure: any thread. Source: spec lifecycle.md section 5.
[[nodiscard]] std::optional<TimeLimit> NextTimeLimit(const control::v1::JobRecord& job);

/// Limits for a cluster's queue: how long the job may run, and the latest useful start (nullopt: no limit,
/// and for a trial, because the tuning job's limit applies, which only this server knows). Pure: any thread.
[[nodiscard]] std::chrono::seconds RunningTimeMax(const control::v1::JobRecord& job);
[[nodiscard]] std::optional<SysTime> StartDeadline(const control::v1::JobRecord& job);

/// How much of the time since then consists of jumps of the machine's clock. Null: the clock never jumps.
using JumpedSince = std::function<std::chrono::nanoseconds(SysTime since)>;

/// The job with the start times of its limits corrected for later jumps of the clock: for decisions, not to
/// be stored. Nothing: the clock has not jumped.
[[nodiscard]] std::optional<control::v1::JobRecord> WithoutJumps(const control::v1::JobRecord& job,
                                                                 const JumpedSince& jumped_since);

}  // namespace trainyard::jobs
