#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainyard/control/v1/record.pb.h"
#include "trainyard/logging/v2/logging.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

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

// Handling of lost lines of a job's log. errorMessage mentions lines that were lost with a node, also if the
// job succeeds. Pure: any thread.

/// The number of attempts that are named; for the others the message only says that there are more.
inline constexpr int kLostLogsNamedMax = 8;

/// Adds a sentence to the record if the replica's attempt has lost lines. The attempt must have an exit.
void NoteLostLog(control::v1::JobRecord& record, const control::v1::ReplicaRecord& replica);

/// The message, followed by the record's sentences about lost lines.
[[nodiscard]] std::string WithLostLogs(const control::v1::JobRecord& record, std::string message);

/// A chunk that replaces the lost lines `begin` to `end` - 1: at ERROR, the first one with the text, the
/// others empty. Stamps are odd; they begin with `stamp`.
[[nodiscard]] replica::v1::LogChunk ChunkOfLostLines(std::int64_t begin, std::int64_t end,
                                                     std::uint64_t stamp, const std::string& text);

}  // namespace trainyard::jobs
