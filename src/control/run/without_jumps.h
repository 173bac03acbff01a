#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "base/clock.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// How much of the time since then consists of jumps of the machine's clock. Null: the clock never jumps.
using JumpedSince = std::function<std::chrono::nanoseconds(SysTime since)>;

/// The job with the start times of its limits corrected for later jumps of the clock: for decisions, not to
/// be stored. Nothing: the clock has not jumped.
[[nodiscard]] std::optional<v1::JobRecord> WithoutJumps(const v1::JobRecord& job,
                                                        const JumpedSince& jumped_since);

}  // namespace trainyard::control
