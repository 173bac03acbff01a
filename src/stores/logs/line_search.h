#pragma once

#include "base/result.h"
#include "stores/logs/job_chunks.h"
#include "stores/logs/line_matcher.h"
#include "stores/logs/line_query.h"
#include "trainyard/control/v1/log_window.pb.h"

namespace trainyard::logs {

/// Looks for lines whose text matches, from query.from on (backward: before it), until there are query.count
/// of them or a limit is reached. Lines of chunks that cannot match are not unpacked. One thread; blocks.
/// Errors: those of JobChunks.
[[nodiscard]] Result<control::v1::LogMatches> SearchLines(JobChunks& chunks, const SearchQuery& query,
                                                          const LineMatcher& matcher, SearchLimits limits);

}  // namespace trainyard::logs
