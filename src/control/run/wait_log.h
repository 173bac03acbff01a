#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/async/event.h"
#include "base/clock.h"
#include "rules/jobs/service_lines.h"
#include "rules/jobs/waiting.h"
#include "stores/logs/log_store.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// Writes to a job's log what it waits for: once per reason, only for waits that last, and for one kind of
/// wait at most once a minute. Has a separate log source: these lines do not follow from the job's events,
/// and a new server writes them again even if the previous one did. Loop thread only.
class WaitLog {
 public:
  /// Shorter waits are not logged.
  static constexpr std::chrono::seconds kSaidAfter{1};
  /// The minimum time between two lines about the same kind of wait (the jobs that block it come and go).
  static constexpr std::chrono::seconds kSaidAgainAfter{60};

  /// `logs` outlives it; `retry_pause` is the time between tries to write.
  WaitLog(boost::asio::any_io_executor loop, logs::LogStore& logs, std::chrono::milliseconds retry_pause);

  /// What the job waits for now; nothing if it does not wait. Returns when to look again at the latest.
  std::optional<SysTime> Look(const v1::JobRecord& job, const std::optional<jobs::Waiting>& waiting,
                              SysTime now);

  /// Whether the reason differs from that of the last call.
  [[nodiscard]] bool IsAnother(const std::optional<jobs::Waiting>& waiting);

  /// Writes another line that does not follow from the job's events.
  void Say(const v1::JobRecord& job, jobs::ServiceLine line, SysTime now);

  /// Writes queued lines until cancelled: the owner runs it for as long as the job exists. Keeps retrying
  /// while the disk is full.
  boost::asio::awaitable<void> Run();
  /// Waits until everything queued so far is durable; false if it is not after `wait_max`.
  boost::asio::awaitable<bool> Flush(std::chrono::milliseconds wait_max);

 private:
  struct Line {
    logs::LogSource source;
    jobs::ServiceLine said;
    SysTime time;
  };
  boost::asio::awaitable<void> Write(Line line);

  logs::LogStore& logs_;
  std::chrono::milliseconds retry_pause_;
  std::string cause_;   ///< of the present wait
  std::string reason_;  ///< as of the last IsAnother
  SysTime since_;
  std::string said_cause_;
  std::string said_reason_;
  SysTime said_time_;
  std::vector<Line> queue_;
  Event said_;
  Event flushed_;
};

}  // namespace trainyard::control
