#pragma once

#include <chrono>
#include <optional>

#include "rules/jobs/decide.h"
#include "rules/jobs/waiting.h"
#include "rules/placement/plan.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/control/v1/status.pb.h"

namespace trainyard::metrics {
class UsageHistory;
}  // namespace trainyard::metrics

namespace trainyard::control {

/// Why the job is QUEUED or PREPARING, with maxWaitTime, or why it has not ended although it has succeeded;
/// nothing otherwise. `queue`: the result of Admissions::WaitOf. `stop_grace`: of the settings. Pure.
[[nodiscard]] std::optional<jobs::Waiting> WaitingOf(const v1::JobRecord& job, const jobs::Observation& seen,
                                                     const std::optional<placement::Wait>& queue,
                                                     std::chrono::milliseconds stop_grace);

/// The number of attempts that run or may run. Pure.
[[nodiscard]] int CountLiving(const v1::JobRecord& job, const jobs::Observation& seen);

/// What this server knows of a job besides its record.
struct KnownOfJob {
  const jobs::Observation* seen = nullptr;  ///< null: the job has no runner any more
  std::optional<jobs::Waiting> waiting;
  const metrics::UsageHistory* usage = nullptr;  ///< null: none is stored
  SysTime now{};
};
[[nodiscard]] v1::JobStatus MakeStatus(const v1::JobRecord& job, const KnownOfJob& known);

}  // namespace trainyard::control
