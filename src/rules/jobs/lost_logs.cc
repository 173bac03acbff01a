#include "rules/jobs/lost_logs.h"

#include "rules/cluster/task_name.h"

namespace trainyard::jobs {

void NoteLostLog(control::v1::JobRecord& record, const control::v1::ReplicaRecord& replica) {
  if (!replica.exit().log_lost() || record.lost_logs_size() > kLostLogsNamedMax) return;
  if (record.lost_logs_size() == kLostLogsNamedMax) {
    record.add_lost_logs("So it is with further attempts; the job's log names them.");
    return;
  }
  // An end that is known says nothing of the lines: those that are missing are said where they would be.
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

}  // namespace trainyard::jobs
