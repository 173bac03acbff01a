#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "base/async/event.h"
#include "control/run/job_history.h"

namespace trainyard::control {

/// Events of the API (cancel, patch) that wait for their turn in a job's life. Loop thread only.
class PostedEvents {
 public:
  /// `wake` is set when there is something to record; it outlives this.
  PostedEvents(boost::asio::any_io_executor loop, Event& wake) : loop_(std::move(loop)), wake_(wake) {}

  /// Durable when it returns; errors as jobs::Apply and of the store. To cancel a job that has ended or is
  /// being cancelled does nothing.
  /// @param revision  kAborted if the job has another one when the event's turn comes.
  boost::asio::awaitable<Status> Post(v1::Event event, std::optional<std::int64_t> revision);

  [[nodiscard]] bool empty() const noexcept { return posted_.empty(); }
  /// Records the first one and answers whoever posted it.
  boost::asio::awaitable<void> RecordNext(JobHistory& history);

 private:
  struct Answer {
    explicit Answer(boost::asio::any_io_executor loop) : done(std::move(loop)) {}
    Status status;
    Event done;
  };
  struct Posted {
    v1::Event event;
    std::optional<std::int64_t> revision;
    std::shared_ptr<Answer> answer;  ///< shared: who asked may be cancelled (its client is gone) any time
  };
  static boost::asio::awaitable<Status> Record(JobHistory& history, Posted posted);

  boost::asio::any_io_executor loop_;
  Event& wake_;
  std::deque<Posted> posted_;
};

}  // namespace trainyard::control
