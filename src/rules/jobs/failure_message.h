#pragma once

#include <string>

#include "trainyard/control/v1/record.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Why a job failed, in the original's words. Pure: any thread. Source: spec lifecycle.md section 4.

namespace trainyard::jobs {

/// What the end of an attempt means for its job. Source: docs/adr/0005-restart-policy.md, spec lifecycle.md
/// section 3.
enum class Verdict {
  kDone,       ///< exit status 0
  kPermanent,  ///< it would end the same way again: the job fails
  kTransient,  ///< the replica may be started again
};

/// Permanent: exit status 1, 2, 126 and 127 (user code, usage, not executable, not found), out of memory,
/// failed preparation. Transient: every other status, signals, lost supervisors, the machine's shutdown and
/// shortage. Pure: any thread.
[[nodiscard]] Verdict JudgeExit(const replica::v1::ExitRecord& exit);

/// Whether the user's program was running in that attempt.
[[nodiscard]] bool RanUserCode(const replica::v1::ExitRecord& exit);

/// One replica's end: `The replica worker 0 exited with a non-zero status of 1.`, `The replica master 0 ran
/// out-of-memory and exited with a non-zero status of 9(SIGKILL)`. The record has an exit with a status other
/// than 0.
[[nodiscard]] std::string FailureSentence(const control::v1::ReplicaRecord& replica);

/// How many replicas errorMessage describes; it only counts the others.
inline constexpr int kFailuresDescribedMax = 8;

/// How many log lines of a failed replica the suggested command shows.
inline constexpr int kLastLines = 50;

/// errorMessage of a job that fails now: a sentence for every failed replica, each with the preparation's
/// reason or the end of its traceback; what the classifier found and advises; how often it was tried; and
/// where the log is.
[[nodiscard]] std::string FailureMessage(const control::v1::JobRecord& record);

}  // namespace trainyard::jobs
