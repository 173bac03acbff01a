#include "control/run/service_log.h"

#include <utility>

#include "control/run/manifest.h"
#include "control/run/store_lines.h"
#include "rules/cluster/task_name.h"

namespace trainyard::control {

replica::v1::LogChunk MakeServiceChunk(std::int64_t first_line, const std::vector<jobs::ServiceLine>& lines,
                                       SysTime now) {
  std::uint64_t stamp = static_cast<std::uint64_t>(now.time_since_epoch().count()) | 1;
  replica::v1::LogLines packed;
  replica::v1::LogChunk chunk;
  chunk.set_first_line(first_line);
  chunk.set_line_count(static_cast<std::int32_t>(lines.size()));
  chunk.set_first_stamp(stamp);
  for (const jobs::ServiceLine& line : lines) {
    replica::v1::LogLine& out = *packed.add_line();
    out.set_stamp(stamp);
    out.set_severity(line.severity);
    out.set_text(line.text);
    chunk.set_last_stamp(stamp);
    stamp += 2;
  }
  packed.SerializeToString(chunk.mutable_lines());
  return chunk;
}

ServiceLog::ServiceLog(boost::asio::any_io_executor loop, logs::LogStore& logs, std::int64_t next_line,
                       std::chrono::milliseconds retry_pause)
    : logs_(logs), next_line_(next_line), retry_pause_(retry_pause), said_(loop), flushed_(loop) {
  flushed_.Set();
}

void ServiceLog::Say(const v1::JobRecord& job, std::vector<jobs::ServiceLine> lines, SysTime now) {
  if (lines.empty()) return;
  queue_.push_back({ServiceSource(job), MakeServiceChunk(next_line_, lines, now)});
  next_line_ += static_cast<std::int64_t>(lines.size());
  flushed_.Reset();
  said_.Set();
}

boost::asio::awaitable<void> ServiceLog::Run() {
  for (;;) {
    co_await said_.Wait();
    said_.Reset();
    while (!queue_.empty()) {
      std::vector<Pending> batch = std::exchange(queue_, {});
      for (Pending& pending : batch) {
        co_await StoreLinesAtLast(logs_, std::move(pending.source), std::move(pending.chunk), retry_pause_);
      }
    }
    flushed_.Set();
  }
}

boost::asio::awaitable<bool> ServiceLog::Flush(std::chrono::milliseconds wait_max) {
  co_return co_await flushed_.WaitFor(wait_max);
}

/// A trial's lines are in the tuning job's log.
logs::LogSource ServiceSource(const v1::JobRecord& job) {
  return {.job_uid = LogUid(job),
          .project = job.project(),
          .job_id = job.job().job_id(),
          .source = job.has_trial() ? "service-" + job.trial().trial_id() : "service",
          .task_name = "service",
          .trial_id = job.trial().trial_id(),
          .host_name = ""};
}

logs::LogSource AttemptSource(const v1::JobRecord& job, int replica, int attempt) {
  const v1::ReplicaRecord& record = job.replicas(replica);
  return {.job_uid = LogUid(job),
          .project = job.project(),
          .job_id = job.job().job_id(),
          .source = AttemptId(job, replica, attempt),
          .task_name = cluster::TaskName(record.id()),
          .trial_id = job.trial().trial_id(),
          .host_name = HostNameOf(job, replica)};
}

std::string UsageName(const v1::JobRecord& job, const std::string& task_name) {
  return job.has_trial() ? job.trial().trial_id() + "/" + task_name : task_name;
}

std::int64_t LogUid(const v1::JobRecord& job) {
  return job.has_trial() ? job.trial().tuning_uid() : job.uid();
}

}  // namespace trainyard::control
