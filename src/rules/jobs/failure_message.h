#pragma once

#include <cstddef>
#include <string>

#include "trainyard/control/v1/record.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Why a job failed, worded like Google's service. Pure: any thread. Source: spec lifecycle.md section 4.

namespace trainyard::jobs {

/// The consequence of an attempt's end for its job. Source: docs/adr/0005-restart-policy.md, spec
/// lifecycle.md section 3.
enum class Verdict {
  kDone,       ///< exit status 0
  kPermanent,  ///< it would fail again in the same way: the job fails
  kTransient,  ///< the replica may be started again
};

/// Permanent: exit status 1, 2, 126 and 127 (user code, usage, not executable, not found), out of memory,
/// failed preparation. Transient: every other status, signals, lost supervisors, the machine's shutdown and
/// shortage. Pure: any thread.
[[nodiscard]] Verdict JudgeExit(const replica::v1::ExitRecord& exit);

/// The same for a replica's recorded exit, with its former one in view: a program that chose the same status
/// twice in a row (neither a signal's nor one of the permanent ones) would choose it again. Source:
/// docs/adr/0075-a-status-that-repeats.md.
[[nodiscard]] Verdict JudgeEnd(const control::v1::ReplicaRecord& replica);

/// The signal that this exit status reports: 128 and its number, as shells do, or 6 and 11, which the
/// original took for an abort and a segmentation fault. 0: the status is no signal's.
[[nodiscard]] int SignalOfStatus(int exit_code);

/// Whether the user's program was running in that attempt.
[[nodiscard]] bool RanUserCode(const replica::v1::ExitRecord& exit);

/// A sentence about one replica's end: `The replica worker 0 exited with a non-zero status of 1.`, `The
/// replica master 0 ran out-of-memory and exited with a non-zero status of 9(SIGKILL)`. The record has an
/// exit with a status other than 0.
[[nodiscard]] std::string FailureSentence(const control::v1::ReplicaRecord& replica);

/// The number of replicas that errorMessage describes; others are only counted.
inline constexpr std::size_t kFailuresDescribedMax = 8;

/// The number of log lines of a failed replica that the suggested command shows.
inline constexpr int kLastLines = 50;

/// errorMessage of a job that fails now: a sentence for every failed replica, each with the preparation's
/// reason or the end of its traceback; the classifier's diagnosis and advice; the number of tries; and the
/// place of the log. The replica that failed first comes first.
[[nodiscard]] std::string FailureMessage(const control::v1::JobRecord& record);

}  // namespace trainyard::jobs
