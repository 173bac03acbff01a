#pragma once

#include <string_view>

#include "base/sqlite/database.h"
#include "stores/logs/log_query.h"

/// A row of the chunks table, joined with its job and source.
namespace trainyard::logs {

/// "SELECT ... FROM ...", to be followed by WHERE and ORDER BY on `c`, the chunks.
extern const std::string_view kSelectChunks;

/// The columns of kSelectChunks.
namespace chunk_column {
enum : int {
  kJobUid,
  kJobLine,
  kLineCount,
  kFloor,
  kFirstTime,
  kLastTime,
  kReceiveTime,
  kProject,
  kTaskName,
  kJobId,
  kTrialId,
  kHostName,
  kChunk,
  kLines,  // last: touching it reads the chunk's overflow pages
};
}  // namespace chunk_column

/// The fields that all lines of the row's chunk have in common.
[[nodiscard]] logging::v2::LogEntry CommonPart(const sqlite::Cursor& row);

/// Whether the chunk belongs to a project and a task that the query asks for.
[[nodiscard]] bool IsAskedFor(const sqlite::Cursor& row, const LogQuery& query);

}  // namespace trainyard::logs
