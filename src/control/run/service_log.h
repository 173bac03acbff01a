#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <vector>

#include "base/async/event.h"
#include "base/clock.h"
#include "rules/jobs/service_lines.h"
#include "stores/logs/log_store.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// The service's own lines in one job's log. Lines are numbered from the job's first event on, so that lines
/// which are written again (after a crash between an event and its lines) are recognised. Loop thread only.
class ServiceLog {
 public:
  /// `next_line` is the number of lines that the job's events so far have produced; `retry_pause` is the time
  /// between tries to write.
  ServiceLog(boost::asio::any_io_executor loop, logs::LogStore& logs, std::int64_t next_line,
             std::chrono::milliseconds retry_pause);

  /// Queues lines; they are written to the log in order, later.
  void Say(const v1::JobRecord& job, std::vector<jobs::ServiceLine> lines, SysTime now);

  /// Writes queued lines until cancelled: the owner runs it for as long as the job exists. Keeps retrying
  /// while the disk is full.
  boost::asio::awaitable<void> Run();

  /// Waits until everything queued so far is durable; false if it is not after `wait_max`.
  boost::asio::awaitable<bool> Flush(std::chrono::milliseconds wait_max);

  [[nodiscard]] std::int64_t next_line() const noexcept { return next_line_; }

 private:
  struct Pending {
    logs::LogSource source;
    replica::v1::LogChunk chunk;
  };

  logs::LogStore& logs_;
  std::int64_t next_line_;
  std::chrono::milliseconds retry_pause_;
  std::vector<Pending> queue_;
  Event said_;
  Event flushed_;
};

/// Lines of the service as a chunk: numbered from `first_line`, stamped from `now` on.
[[nodiscard]] replica::v1::LogChunk MakeServiceChunk(std::int64_t first_line,
                                                     const std::vector<jobs::ServiceLine>& lines,
                                                     SysTime now);

/// The job whose log has the job's lines: the job itself; for a trial, the tuning job.
[[nodiscard]] std::int64_t LogUid(const v1::JobRecord& job);

/// The name under which a replica's resource use is stored in the job that LogUid names: "worker-replica-0",
/// for a trial "3/worker-replica-0".
[[nodiscard]] std::string UsageName(const v1::JobRecord& job, const std::string& task_name);

/// The source of the service's lines in the job's log.
[[nodiscard]] logs::LogSource ServiceSource(const v1::JobRecord& job);
/// The source of an attempt's lines.
[[nodiscard]] logs::LogSource AttemptSource(const v1::JobRecord& job, int replica, int attempt);

}  // namespace trainyard::control
