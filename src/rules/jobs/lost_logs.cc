#include "rules/jobs/lost_logs.h"

#include "rules/cluster/task_name.h"

namespace trainyard::jobs {

void NoteLostLog(control::v1::JobRecord& record, const control::v1::ReplicaRecord& replica) {
  if (!replica.exit().log_lost() || record.lost_logs_size() > kLostLogsNamedMax) return;
  if (record.lost_logs_size() == kLostLogsNamedMax) {
    record.add_lost_logs("So it is with further attempts; the job's log names them.");
    return;
  }
  // If the end is known, missing lines are reported at their position in the log.
  const bool is_lost = replica.exit().cause() == replica::v1::ExitRecord::LOST;
  record.add_lost_logs("The replica " + cluster::ReplicaLabel(replica.id()) + ", attempt " +
                       std::to_string(replica.attempt()) + ": " +
                       (is_lost ? replica.exit().message() : "lines that it wrote last are lost") + ".");
}

std::string WithLostLogs(const control::v1::JobRecord& record, std::string message) {
  if (record.lost_logs().empty()) return message;
  if (!message.empty()) message += "\n\n";
  message += "The log of the job is not complete.";
  for (const std::string& sentence : record.lost_logs()) message += " " + sentence;
  return message;
}

replica::v1::LogChunk ChunkOfLostLines(std::int64_t begin, std::int64_t end, std::uint64_t stamp,
                                       const std::string& text) {
  stamp |= 1;
  replica::v1::LogLines lines;
  replica::v1::LogChunk chunk;
  chunk.set_first_line(begin);
  chunk.set_line_count(static_cast<std::int32_t>(end - begin));
  chunk.set_first_stamp(stamp);
  for (std::int64_t line = begin; line < end; ++line, stamp += 2) {
    replica::v1::LogLine& out = *lines.add_line();
    out.set_stamp(stamp);
    out.set_severity(logging::v2::LogEntry::ERROR);
    if (line == begin) out.set_text(text);
    chunk.set_last_stamp(stamp);
  }
  lines.SerializeToString(chunk.mutable_lines());
  return chunk;
}

}  // namespace trainyard::jobs
