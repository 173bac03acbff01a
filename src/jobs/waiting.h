#pragma once

#include <optional>
#include <string>

#include "jobs/decide.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::jobs {

/// Waiting::cause of a job that waits for others of the queue only.
inline constexpr const char* kTurn = "turn";

/// Why a job does not run yet.
struct Waiting {
  std::string cause;          ///< a word for the kind of wait
  std::int64_t position = 0;  ///< jobPosition; 0 outside the queue
  std::string reason;         ///< one sentence: what it waits for
  std::string unblock;        ///< a sentence or two: what would end the wait, and when it is given up
  friend bool operator==(const Waiting&, const Waiting&) = default;
};

/// What a PREPARING job waits for: supervisors, environments, the barrier, a pause before a restart. Nothing
/// for any other job. Pure: any thread.
[[nodiscard]] std::optional<Waiting> WaitWhilePreparing(const control::v1::JobRecord& job,
                                                        const Observation& seen);

/// "The job is cancelled at 2020-01-01T00:00:00Z if it does not run by then (maxWaitTime)."; empty for a job
/// without that limit. The job is QUEUED or PREPARING.
[[nodiscard]] std::string WaitLimit(const control::v1::JobRecord& job);

}  // namespace trainyard::jobs
