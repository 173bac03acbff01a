#pragma once

#include "base/result.h"
#include "stores/logs/job_chunks.h"
#include "stores/logs/line_query.h"
#include "trainyard/control/v1/log_window.pb.h"

namespace trainyard::logs {

/// Bytes of lines that one window has at most, except that its first line may be longer.
inline constexpr std::size_t kWindowBytesMax = std::size_t{2} << 20;
/// Bytes of lines that are read for one window: some 50 ms.
inline constexpr std::int64_t kWindowBytesSeenMax = std::int64_t{64} << 20;

/// Reads a window of a job's lines. The walk is bounded: with a filter a window may be short, even empty, and
/// have a `next` (or `previous`) from which to continue. A job without lines has an empty window. One thread;
/// blocks. Errors: those of JobChunks.
[[nodiscard]] Result<control::v1::LogWindow> ReadWindow(JobChunks& chunks, const WindowQuery& query);

}  // namespace trainyard::logs
