#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "base/clock.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// How much of the time since then is jumps of the machine's clock. Null: it never jumps.
using JumpedSince = std::function<std::chrono::nanoseconds(SysTime since)>;

/// The job with the times that its limits count from as if the clock had not jumped since: to be decided on,
/// not to be stored. Nothing: it has not.
[[nodiscard]] std::optional<v1::JobRecord> WithoutJumps(const v1::JobRecord& job,
                                                        const JumpedSince& jumped_since);

}  // namespace trainyard::control
