#pragma once

#include <optional>
#include <vector>

#include "jobs/service_lines.h"

namespace trainyard::jobs {

/// What the service says about an event of a tuning job, or of a trial (there with the trial's number);
/// nothing where it is what it says of any job. Pure: any thread.
[[nodiscard]] std::optional<std::vector<ServiceLine>> TuningLinesFor(const control::v1::JobRecord& after,
                                                                     const control::v1::Event& event);

}  // namespace trainyard::jobs
