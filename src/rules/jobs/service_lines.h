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

/// The lines that the service writes to the job's log for an event, in the documented order and words (spec:
/// lifecycle, section 6). They depend only on the arguments: after a crash the same lines are generated
/// again, and lines that are stored already are recognised by their number. `after` is the record after the
/// event. Pure: any thread.
[[nodiscard]] std::vector<ServiceLine> LinesFor(const control::v1::JobRecord& after,
                                                const control::v1::Event& event);

/// The lines for an event of a tuning job, or of a trial (with the trial's number). Nullopt if the lines are
/// the same as for any job; an empty list if there are no lines. Pure: any thread.
[[nodiscard]] std::optional<std::vector<ServiceLine>> TuningLinesFor(const control::v1::JobRecord& after,
                                                                     const control::v1::Event& event);

}  // namespace trainyard::jobs
