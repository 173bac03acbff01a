#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/async/event.h"
#include "control/collaborators.h"
#include "control/run/pause.h"
#include "control/run/service_log.h"
#include "rules/jobs/service_lines.h"
#include "rules/jobs/together.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// The main loop of one unfinished job of any kind, with its record, its event log, and the service's own
/// lines in the job's log: events of the API (cancel, patch) are recorded in their turn; otherwise the owner
/// decides, records and performs; then it sleeps until it is woken. The only writer of the record while it
/// exists. Loop thread only.
class RecordLoop {
 public:
  using OnEvent = std::function<void(const v1::Event& event)>;

  /// `service_lines` is how many lines the job's events so far have produced. `on_event` is called for each
  /// new event once it is durable and job() has changed; `outside` outlives this.
  RecordLoop(const Collaborators& outside, v1::JobRecord job, std::int64_t service_lines, OnEvent on_event)
      : outside_(outside),
        job_(std::move(job)),
        service_log_(outside.loop, outside.logs, service_lines, outside.settings.retry_pause),
        on_event_(std::move(on_event)),
        wake_(outside.loop) {}

  [[nodiscard]] const v1::JobRecord& job() const noexcept { return job_; }
  /// Set it after observing something new.
  [[nodiscard]] Event& wake() noexcept { return wake_; }
  /// Writes the log lines of earlier events that may not be in the log yet.
  void SayAgain(std::vector<jobs::ServiceLine> lines);
  /// Writes queued lines until cancelled: the owner runs it for as long as the job exists.
  boost::asio::awaitable<void> WriteLines() { return service_log_.Run(); }

  /// Durable when it returns; errors as jobs::Apply and of the store. Cancelling a job that has ended or is
  /// being cancelled does nothing.
  /// @param revision  kAborted if the job has another one when the event's turn comes.
  boost::asio::awaitable<Status> Post(v1::Event event, std::optional<std::int64_t> revision);
  /// Appends one event: durable before it takes effect. If it fails, the server's log says so, and that it is
  /// retried. Errors as jobs::Apply and of the store; then nothing has changed, except that an earlier event,
  /// whose write the store had reported as failed but did complete, takes effect now.
  boost::asio::awaitable<Status> Record(v1::Event event);
  /// The same for steps from job() on: all become durable in one transaction, then each takes effect.
  boost::asio::awaitable<Status> Record(Result<jobs::Steps> steps);
  /// The steps that begin with the event; by what is seen, others follow from it.
  [[nodiscard]] Result<jobs::Steps> StepsFrom(v1::Event event, const jobs::Observation& seen) const;
  /// The same for a record that is not stored yet, and is the one after its first event.
  [[nodiscard]] jobs::Steps FirstSteps(v1::Event created, const jobs::Observation& seen) const;
  /// `steps` are stored: the record is the one after the first of them, whose lines are said. Before Run.
  void TakeFirst(jobs::Steps steps);

  struct Turn {
    bool performed = false;              ///< it did something other than wait
    std::optional<SysTime> wake_time{};  ///< if it did nothing: when to decide again at the latest
  };
  /// `take_turn` decides by the record, whose times are corrected for jumps of the clock, and performs.
  boost::asio::awaitable<void> Run(
      std::function<bool()> is_over,
      std::function<boost::asio::awaitable<Turn>(const v1::JobRecord& job, SysTime now)> take_turn);

 private:
  struct Posted {
    Posted(boost::asio::any_io_executor loop, v1::Event what, std::optional<std::int64_t> of)
        : event(std::move(what)), revision(of), done(std::move(loop)) {}
    v1::Event event;
    std::optional<std::int64_t> revision;
    Status status{};
    Event done;
  };
  boost::asio::awaitable<Status> RecordPosted(Posted& posted);
  boost::asio::awaitable<Status> Append(jobs::Steps steps);
  boost::asio::awaitable<Status> Store(jobs::Steps steps);
  boost::asio::awaitable<Status> SayEnd(const jobs::Steps& steps);
  boost::asio::awaitable<Status> CatchUp();
  void TakeEffect(jobs::Step step);
  void Say(const jobs::Step& step);
  [[nodiscard]] bool IsEnding() const {
    return !ending_.empty() && ending_.front().event.seq() == job_.revision() + 1;
  }

  const Collaborators& outside_;
  v1::JobRecord job_;
  ServiceLog service_log_;
  OnEvent on_event_;
  bool end_said_ = false;      ///< the lines of Ended are logged, but the event may not be stored yet
  jobs::Steps ending_;         ///< the steps to Ended, whose lines are logged; they are recorded as they are
  std::int64_t said_seq_ = 0;  ///< the lines of events up to this one are logged
  bool uncertain_ = false;     ///< the store has reported a failed write, which may be stored nevertheless
  Event wake_;
  std::deque<std::shared_ptr<Posted>> posted_;  ///< shared: the caller may be cancelled (its client is gone)
  Trouble recording_;
};

}  // namespace trainyard::control
