#pragma once

#include <string>

#include "trainyard/control/v1/record.pb.h"

/// Why a job failed, in the original's words. Pure: any thread. Source: spec lifecycle.md section 4.
namespace trainyard::jobs {

/// One replica's end: `The replica worker 0 exited with a non-zero status of 1.`, `The replica master 0 ran
/// out-of-memory and exited with a non-zero status of 9(SIGKILL)`. The record has an exit that is not status
/// 0.
[[nodiscard]] std::string FailureSentence(const control::v1::ReplicaRecord& replica);

/// Replicas that errorMessage describes; of the others it gives the number.
inline constexpr int kFailuresDescribedMax = 8;

/// Lines of a failed replica that the message offers to show.
inline constexpr int kLastLines = 50;

/// errorMessage of a job that fails now: the sentence of every replica that failed, each with the
/// preparation's reason or the tail of its traceback, what the classifier knows and advises, how often it was
/// tried, and where the log is.
[[nodiscard]] std::string FailureMessage(const control::v1::JobRecord& record);

}  // namespace trainyard::jobs
