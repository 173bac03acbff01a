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

/// Says in a job's log what it waits for: once per reason, only of waits that last, and of one kind of wait
/// not more often than once a minute. A source of its own: these lines do not follow from the job's events,
/// and a new server says what it finds even if the former one said the same. Loop thread only.
class WaitLog {
 public:
  /// A shorter wait is not worth a line.
  static constexpr std::chrono::seconds kSaidAfter{1};
  /// Between two lines about the same kind of wait (the jobs that are in the way come and go).
  static constexpr std::chrono::seconds kSaidAgainAfter{60};

  /// `logs` outlives it; `retry_pause` lies between tries to write.
  WaitLog(boost::asio::any_io_executor loop, logs::LogStore& logs, std::chrono::milliseconds retry_pause);

  /// What the job waits for now; nothing if it doesn't. Returns when to look again at the latest.
  std::optional<SysTime> Look(const v1::JobRecord& job, const std::optional<jobs::Waiting>& waiting,
                              SysTime now);

  /// Whether it waits for something else than when this was last asked.
  [[nodiscard]] bool IsAnother(const std::optional<jobs::Waiting>& waiting);

  /// Says one thing more that does not follow from the job's events.
  void Say(const v1::JobRecord& job, jobs::ServiceLine line, SysTime now);

  /// Writes what is to be said until told to stop: the owner runs it for as long as the job lives. A full
  /// disk is waited out.
  boost::asio::awaitable<void> Run();
  /// Waits until everything said so far is durable; false if it still is not after `wait_max`.
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
  std::string reason_;  ///< as last asked about
  SysTime since_;
  std::string said_cause_;
  std::string said_reason_;
  SysTime said_time_;
  std::vector<Line> queue_;
  Event said_;
  Event flushed_;
};

}  // namespace trainyard::control
