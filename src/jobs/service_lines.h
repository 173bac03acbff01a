#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trainyard/control/v1/record.pb.h"
#include "trainyard/logging/v2/logging.pb.h"

namespace trainyard::jobs {

struct ServiceLine {
  logging::v2::LogEntry::Severity severity = logging::v2::LogEntry::INFO;
  std::string text;
  friend bool operator==(const ServiceLine&, const ServiceLine&) = default;
};
[[nodiscard]] ServiceLine InfoLine(std::string text);
[[nodiscard]] ServiceLine WarningLine(std::string text);

/// What the service says in the job's log about an event, in the documented order and words (spec: lifecycle,
/// section 6). A function of its arguments alone: after a crash the same lines are derived again and those
/// that are stored already are recognised by their number. `after` is the record that the event produced.
/// Pure: any thread.
[[nodiscard]] std::vector<ServiceLine> LinesFor(const control::v1::JobRecord& after,
                                                const control::v1::Event& event);

/// What the service says about an event of a tuning job, or of a trial (there with the trial's number);
/// nothing where it is what it says of any job. Pure: any thread.
[[nodiscard]] std::optional<std::vector<ServiceLine>> TuningLinesFor(const control::v1::JobRecord& after,
                                                                     const control::v1::Event& event);

}  // namespace trainyard::jobs
