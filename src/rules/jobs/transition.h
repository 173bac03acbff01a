#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::jobs {

/// The record after one more event, by the transition table (docs/lifecycle.md). `event` must have its time;
/// its seq becomes record.revision() + 1 (the caller leaves it 0 or sets exactly that). kFailedPrecondition,
/// naming state and event, for a pair that is not in the table. `Created` is applied to an empty record.
/// Pure: any thread.
[[nodiscard]] Result<control::v1::JobRecord> Apply(const control::v1::JobRecord& record,
                                                   const control::v1::Event& event);

}  // namespace trainyard::jobs
