#include "rules/jobs/service_lines.h"

#include "rules/cluster/task_name.h"
#include "rules/jobs/images.h"

namespace trainyard::jobs {
namespace {

using control::v1::Event;
using control::v1::JobRecord;
using logging::v2::LogEntry;
using ml::v1::Job;
using Lines = std::vector<ServiceLine>;

void AddImage(const control::v1::ImageRecord& image, Lines& lines) {
  if (image.image() == image.reference()) return;  // the job names the digest itself
  lines.push_back(InfoLine("Image " + image.image() + " is " + image.reference() + "."));
}

Lines OnImagesResolved(const Event::ImagesResolved& resolved) {
  Lines lines;
  for (const control::v1::ImageRecord& image : resolved.images()) AddImage(image, lines);
  return lines;
}

Lines OnCreated(const JobRecord& after) {
  Lines lines = {InfoLine("Validating job requirements..."),
                 InfoLine("Job creation request has been successfully validated.")};
  for (const control::v1::ImageRecord& image : after.images()) {
    if (IsUnresolved(image)) {
      lines.push_back(WarningLine("The image " + image.image() + " is not resolved yet: " +
                                  image.unresolved() + ". The job waits until its registry answers."));
    } else {
      AddImage(image, lines);
    }
  }
  for (const std::string& warning : after.warnings()) lines.push_back(WarningLine(warning));
  for (const std::string& remark : after.remarks()) lines.push_back(InfoLine(remark));
  lines.push_back(InfoLine("Job " + after.job().job_id() + " is queued."));
  lines.push_back(InfoLine("Waiting for job to be provisioned."));
  return lines;
}

/// A request that the job does not get is a warning; sharing the machine is not.
Lines OnAdmitted(const JobRecord& after, const Event::Admitted& admitted) {
  if (after.try_number() > 1) return {InfoLine("The job has resources again.")};
  Lines lines;
  const int warnings = after.notes_size() - admitted.grant().notes_size();
  for (int i = 0; i < after.notes_size(); ++i) {
    lines.push_back(i < warnings ? WarningLine(after.notes(i)) : InfoLine(after.notes(i)));
  }
  lines.push_back(InfoLine("Waiting for training program to start."));
  lines.push_back(InfoLine("Job is preparing."));
  return lines;
}

Lines OnRevoked(const JobRecord& after, const Event::Revoked& revoked) {
  return {WarningLine(revoked.reason() +
                      (after.retrying() ? " The whole job restarts when resources are free." : ""))};
}

Lines OnCancelRequested(const JobRecord& after, const Event::CancelRequested& cancel) {
  if (after.outcome() != Job::CANCELLED) return {};  // too late: the job has its outcome
  return {InfoLine("Job is being cancelled. " + cancel.reason())};
}

Lines OnMaintenance(const Event::MaintenanceRequested& requested) {
  return {InfoLine("Host maintenance: the replica " + cluster::ReplicaLabel(requested.replica()) +
                   " is being stopped and starts again with the same name and cluster.")};
}

Lines OnConcluded(const Event::Concluded& concluded) {
  if (concluded.outcome() != Job::FAILED) return {};
  return {{LogEntry::ERROR, concluded.error_message()}};
}

Lines OnEnded(const JobRecord& after) {
  Lines lines;
  if (after.job().has_start_time()) lines.push_back(InfoLine("Finished tearing down training program."));
  switch (after.job().state()) {
    case Job::SUCCEEDED: lines.push_back(InfoLine("Job completed successfully.")); break;
    case Job::FAILED: lines.push_back(InfoLine("Job failed.")); break;
    default: lines.push_back(InfoLine("Job cancelled.")); break;
  }
  return lines;
}

}  // namespace

ServiceLine InfoLine(std::string text) { return {LogEntry::INFO, std::move(text)}; }
ServiceLine WarningLine(std::string text) { return {LogEntry::WARNING, std::move(text)}; }

Lines LinesFor(const JobRecord& after, const Event& event) {
  if (std::optional<Lines> lines = TuningLinesFor(after, event)) return *std::move(lines);
  switch (event.kind_case()) {
    case Event::kCreated: return OnCreated(after);
    case Event::kAdmitted: return OnAdmitted(after, event.admitted());
    case Event::kRevoked: return OnRevoked(after, event.revoked());
    case Event::kRunning: return {InfoLine("Job is running.")};
    case Event::kRestartDecided: return {WarningLine(event.restart_decided().reason())};
    case Event::kRetryDecided: return {WarningLine(event.retry_decided().reason())};
    case Event::kCancelRequested: return OnCancelRequested(after, event.cancel_requested());
    case Event::kMaintenanceRequested: return OnMaintenance(event.maintenance_requested());
    case Event::kConcluded: return OnConcluded(event.concluded());
    case Event::kEnded: return OnEnded(after);
    case Event::kImagesResolved: return OnImagesResolved(event.images_resolved());
    case Event::kLaunched:
    case Event::kReplicaEnded:
    case Event::kRetryStarted:
    case Event::kPatched:
    case Event::kPolicySet:
    case Event::kTrialCreated:
    case Event::kTrialEnded:
    case Event::kSpaceExhausted:
    case Event::kTrialMeasured:
    case Event::KIND_NOT_SET: return {};
  }
  return {};
}

void NoteLostLog(control::v1::JobRecord& record, const control::v1::ReplicaRecord& replica) {
  if (!replica.exit().log_lost() || record.lost_logs_size() > kLostLogsNamedMax) return;
  if (record.lost_logs_size() == kLostLogsNamedMax) {
    record.add_lost_logs("More attempts are affected; the job's log names them.");
    return;
  }
  // If the end is known, missing lines are reported at their position in the log.
  const bool is_lost = replica.exit().cause() == replica::v1::ExitRecord::LOST;
  record.add_lost_logs("The replica " + cluster::ReplicaLabel(replica.id()) + ", attempt " +
                       std::to_string(replica.attempt()) + ": " +
                       (is_lost ? replica.exit().message() : "its last lines are lost") + ".");
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
