#pragma once

#include "base/result.h"
#include "stores/logs/job_chunks.h"
#include "stores/logs/line_query.h"

namespace trainyard::logs {

/// A piece ends with the line that makes it this long.
inline constexpr std::size_t kPieceBytesMin = std::size_t{512} << 10;
/// Bytes of lines that are looked at for one piece: where few lines are wanted, others wait for the thread.
inline constexpr std::size_t kPieceBytesSeenMax = std::size_t{16} << 20;

/// Lines as a file has them, whole.
///
/// Text: "TIME SEVERITY REPLICA TEXT", a line each; the lines of a text of several begin with a tab from the
/// second on, so that no text can look like a line of its own. JSON: an object a line, with the names of
/// control.v1.LogLineShown.
///
/// One thread; blocks. kAborted: the log was erased in the meantime; else the errors of JobChunks.
[[nodiscard]] Result<Piece> PrintLines(JobChunks& chunks, const PieceQuery& query);

}  // namespace trainyard::logs
