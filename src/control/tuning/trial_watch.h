#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>

#include "base/async/event.h"
#include "control/tuning/trial_metrics.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// What a trial's program reports while a runner manages the trial. Loop thread only.
class TrialWatch {
 public:
  using OnReport = std::function<void()>;
  /// `on_report` is called when report() has changed; the buckets outlive this.
  TrialWatch(boost::asio::any_io_executor loop, const v1::JobRecord& trial, storage::Buckets& buckets,
             OnReport on_report);

  /// Takes a report of the master's supervisor.
  void Take(replica::v1::MetricReport reported);
  /// Reads the event files in the buckets at intervals, until Finish or cancellation. The owner runs it for
  /// as long as the trial lives.
  boost::asio::awaitable<void> Run();
  /// Call it when no replica of the trial runs any more. Returns all that the trial has reported.
  boost::asio::awaitable<v1::Event::TrialMeasured> Finish();

  [[nodiscard]] const replica::v1::MetricReport& report() const noexcept { return metrics_.report(); }
  /// As TrialMetrics::TakeWarning.
  [[nodiscard]] std::string TakeWarning() { return metrics_.TakeWarning(); }

 private:
  TrialMetrics metrics_;
  OnReport on_report_;
  bool finishing_ = false;
  Event finish_;
  Event idle_;  ///< set while Run reads nothing
};

}  // namespace trainyard::control
