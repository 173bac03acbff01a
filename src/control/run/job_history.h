#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <vector>

#include "control/collaborators.h"
#include "control/run/service_log.h"
#include "rules/jobs/service_lines.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// One unfinished job's record, its event log, and the service's own lines in the job's log. The only writer
/// of the record while it exists. Loop thread only.
class JobHistory {
 public:
  using OnEvent = std::function<void(const v1::Event& event)>;

  /// `service_lines` is how many lines the job's events so far have produced. `on_event` is called for each
  /// new event once it is durable and job() has changed; `outside` outlives this.
  JobHistory(const Collaborators& outside, v1::JobRecord job, std::int64_t service_lines, OnEvent on_event);

  [[nodiscard]] const v1::JobRecord& job() const noexcept { return job_; }

  /// Appends one event: durable before it takes effect. Errors as jobs::Apply and of the store; then nothing
  /// has changed, except that an earlier event, whose write the store had reported as failed but did
  /// complete, takes effect now.
  boost::asio::awaitable<Status> Record(v1::Event event);

  /// Writes the log lines of earlier events that may not be in the log yet.
  void SayAgain(std::vector<jobs::ServiceLine> lines);

  /// Writes queued lines until cancelled: the owner runs it for as long as the job exists.
  boost::asio::awaitable<void> WriteLines() { return service_log_.Run(); }

 private:
  boost::asio::awaitable<Status> SayEnd(v1::JobRecord after, v1::Event event);
  boost::asio::awaitable<void> CatchUp();
  void TakeEffect(v1::JobRecord after, const v1::Event& event);

  const Collaborators& outside_;
  v1::JobRecord job_;
  ServiceLog service_log_;
  OnEvent on_event_;
  bool end_said_ = false;  ///< the lines of Ended are logged, but the event may not be stored yet
};

}  // namespace trainyard::control
