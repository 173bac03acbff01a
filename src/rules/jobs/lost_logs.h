#pragma once

#include <string>

#include "trainyard/control/v1/record.pb.h"

/// Lines of a job's log that are gone with a node: they are said in errorMessage, however the job ends. Pure:
/// any thread.
namespace trainyard::jobs {

/// How many attempts are named; of the others it is said that there are more.
inline constexpr int kLostLogsNamedMax = 8;

/// Keeps a sentence in the record if the replica's attempt has lost lines. It has an exit.
void NoteLostLog(control::v1::JobRecord& record, const control::v1::ReplicaRecord& replica);

/// The message with what the record says of lost lines.
[[nodiscard]] std::string WithLostLogs(const control::v1::JobRecord& record, std::string message);

}  // namespace trainyard::jobs
