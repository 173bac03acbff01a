#pragma once

#include <cstdint>
#include <string>

#include "trainyard/control/v1/record.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Lines of a job's log that are lost. Those that are gone with a node are said in errorMessage, however the
/// job ends. Pure: any thread.
namespace trainyard::jobs {

/// How many attempts are named; of the others it is said that there are more.
inline constexpr int kLostLogsNamedMax = 8;

/// Keeps a sentence in the record if the replica's attempt has lost lines. It has an exit.
void NoteLostLog(control::v1::JobRecord& record, const control::v1::ReplicaRecord& replica);

/// The message with what the record says of lost lines.
[[nodiscard]] std::string WithLostLogs(const control::v1::JobRecord& record, std::string message);

/// A chunk in the place of the lines `begin` to `end` - 1, which are lost: at ERROR, the first one with the
/// text, the others empty. Stamps are odd; they begin with `stamp`.
[[nodiscard]] replica::v1::LogChunk ChunkOfLostLines(std::int64_t begin, std::int64_t end,
                                                     std::uint64_t stamp, const std::string& text);

}  // namespace trainyard::jobs
