#pragma once

#include "base/result.h"
#include "stores/logs/job_chunks.h"
#include "stores/logs/line_query.h"

namespace trainyard::logs {

/// A piece ends with the line that makes it this long.
inline constexpr std::size_t kPieceBytesMin = std::size_t{512} << 10;
/// Limit on the bytes of lines that are read for one piece: if few lines match, others wait for the thread.
inline constexpr std::size_t kPieceBytesSeenMax = std::size_t{16} << 20;

/// Prints whole lines for a download.
///
/// Text: "TIME SEVERITY REPLICA TEXT", one line each; if a text has several lines, all but the first begin
/// with a tab, so that no text can look like a separate line. JSON: one object per line, with the names of
/// control.v1.LogLineShown.
///
/// One thread; blocks. kAborted: the log was erased in the meantime; otherwise the errors of JobChunks.
[[nodiscard]] Result<Piece> PrintLines(JobChunks& chunks, const PieceQuery& query);

}  // namespace trainyard::logs
