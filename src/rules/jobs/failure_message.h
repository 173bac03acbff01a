#pragma once

#include <string>

#include "trainyard/control/v1/record.pb.h"

/// Why a job failed, in the original's words. Pure: any thread. Source: spec lifecycle.md section 4.
namespace trainyard::jobs {

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
