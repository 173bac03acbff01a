#pragma once

#include "base/result.h"
#include "stores/logs/job_chunks.h"
#include "trainyard/control/v1/log_window.pb.h"

namespace trainyard::logs {

/// A log up to this size is counted line by line: then its parts have the requested length, and lines stored
/// by an earlier version are counted too. Some 50 ms.
inline constexpr std::int64_t kExactLinesMax = 200'000;
inline constexpr std::int64_t kExactBytesMax = std::int64_t{32} << 20;

/// Counts a job's lines by severity in about `parts` parts (at least 1). For a longer log the chunks' counts
/// are added up, and a chunk belongs to the part that its first line is in. A job without lines has no parts.
/// One thread; blocks. Errors: those of JobChunks.
[[nodiscard]] Result<control::v1::LogSummary> SummarizeLines(JobChunks& chunks, std::int64_t job_uid,
                                                             int parts);

}  // namespace trainyard::logs
