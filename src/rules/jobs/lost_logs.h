#pragma once

#include <cstdint>
#include <string>

#include "trainyard/control/v1/record.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Handling of lost lines of a job's log. errorMessage mentions lines that were lost with a node, also if the
/// job succeeds. Pure: any thread.
namespace trainyard::jobs {

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
