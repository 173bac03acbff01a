#include "stores/logs/chunk_row.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "base/wire/time.h"
#include "stores/logs/entry.h"
#include "stores/logs/log_store.h"

namespace trainyard::logs {

using namespace chunk_column;

// CROSS JOIN keeps SQLite from starting at a table other than chunks.
const std::string_view kSelectChunks =
    "SELECT c.job_uid, c.job_line, c.line_count, c.floor, c.first_time, c.last_time, c.receive_time, "
    "j.project, s.task_name, j.job_id, s.trial_id, s.host_name, c.chunk_id, c.lines "
    "FROM chunks c CROSS JOIN jobs j ON j.job_uid = c.job_uid CROSS JOIN sources s ON s.source_id = "
    "c.source_id ";

logging::v2::LogEntry CommonPart(const sqlite::Cursor& row) {
  const LogSource source{.project = std::string(row.Text(kProject)),
                         .job_id = std::string(row.Text(kJobId)),
                         .task_name = std::string(row.Text(kTaskName)),
                         .trial_id = std::string(row.Text(kTrialId)),
                         .host_name = std::string(row.Text(kHostName))};
  logging::v2::LogEntry entry = EntryTemplate(source);
  *entry.mutable_receive_timestamp() =
      wire::ToProto(SysTime(std::chrono::nanoseconds(row.Int(kReceiveTime))));
  return entry;
}

bool IsAskedFor(const sqlite::Cursor& row, const LogQuery& query) {
  if (!std::ranges::binary_search(query.projects, row.Text(kProject))) return false;
  return !query.bounds.task_name || *query.bounds.task_name == row.Text(kTaskName);
}

}  // namespace trainyard::logs
