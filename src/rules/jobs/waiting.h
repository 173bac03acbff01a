#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "rules/jobs/decide.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::jobs {

/// Waiting::cause of a job that waits only for its turn in the queue.
inline constexpr const char* kTurn = "turn";

/// Why a job does not run yet.
struct Waiting {
  std::string cause;          ///< one word: the kind of wait
  std::int64_t position = 0;  ///< jobPosition; 0 if the job is not in the queue
  std::string reason;         ///< one sentence, or a few: what it waits for
  std::string unblock;        ///< one or two sentences: what ends the wait, and when the job gives up
  bool never = false;         ///< the job cannot start as it is; shown as a warning
  friend bool operator==(const Waiting&, const Waiting&) = default;
};

/// A job that has an outcome waits for replicas that were told to stop. Nullopt: it does not wait for any.
/// @param stop_grace  the operator's grace period in whole seconds, as in GraceOf. Pure: any thread.
[[nodiscard]] std::optional<Waiting> WaitForEnd(const control::v1::JobRecord& job, const Observation& seen,
                                                std::chrono::milliseconds stop_grace);

/// A problem outside of the user's program that keeps an unfinished job in any state from progressing: a
/// record that cannot be written, an attempt that cannot be managed, a failure that cannot be judged yet, a
/// disk without space for the next start. Nullopt: there is none. Pure: any thread.
[[nodiscard]] std::optional<Waiting> WaitForTrouble(const control::v1::JobRecord& job,
                                                    const Observation& seen);

/// What a PREPARING job waits for: supervisors, environments, the barrier, a pause before a restart. Nullopt
/// for a job in any other state. Pure: any thread.
[[nodiscard]] std::optional<Waiting> WaitWhilePreparing(const control::v1::JobRecord& job,
                                                        const Observation& seen);

/// What a QUEUED job with unresolved images waits for; nullopt for any other job.
[[nodiscard]] std::optional<Waiting> WaitForImages(const control::v1::JobRecord& job,
                                                   const ImageObservation& seen);

/// "The job is cancelled at 2020-01-01T00:00:00Z if it does not run by then (maxWaitTime)."; empty for a job
/// without that limit. The job must be QUEUED or PREPARING.
[[nodiscard]] std::string WaitLimit(const control::v1::JobRecord& job);

}  // namespace trainyard::jobs
