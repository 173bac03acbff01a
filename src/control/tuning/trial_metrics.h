#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/async/event.h"
#include "base/clock.h"
#include "stores/storage/buckets.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::control {

/// How often the event files of a running trial are read.
inline constexpr std::chrono::seconds kSummariesInterval{10};

/// An event file that was last written up to this long before its trial was created may still be the trial's:
/// file systems store times in steps of up to a second, and the clock of the machine that wrote it may be
/// behind.
inline constexpr std::chrono::seconds kFileTimeSlack{1};

/// Collects one trial's metrics: those that its master's supervisor reports, and those that the event files
/// below its job directory contain. The metric file takes precedence over event files; event files in the
/// bucket take precedence over those that the program wrote locally. With several metrics, the place of the
/// first one decides which report takes precedence; each metric that it lacks is taken from the other report.
/// Loop thread only; the buckets outlive it. Source: spec hyperparameter-tuning.md sections 5 and 6;
/// docs/adr/0020-metrics.md.
class TrialMetrics {
 public:
  /// @param tags     not empty, as jobs::MetricTags
  /// @param job_dir  "gs://BUCKET/FOLDER/TRIAL" as the trial's own --job-dir; empty: it has none, and only
  ///                 the supervisor's reports count.
  /// @param created  when the trial was created. Files written to its job directory before belong to another
  ///                 job with the same directory and do not count. The same for all attempts of the trial.
  TrialMetrics(const std::vector<std::string>& tags, std::string job_dir, SysTime created,
               storage::Buckets& buckets);
  ~TrialMetrics();
  TrialMetrics(const TrialMetrics&) = delete;
  TrialMetrics& operator=(const TrialMetrics&) = delete;

  /// FromReplica.metrics or ExitRecord.metrics of the master: replaces the last one. A metric without
  /// measurements does not replace those that are known (a restarted program starts from nothing). True:
  /// report() has changed.
  bool Take(replica::v1::MetricReport reported);

  /// Reads what is new in event files below the job directory: every kSummariesInterval while the trial runs,
  /// and once when all its replicas have ended. One call at a time; it must have ended before the destructor
  /// runs. Files are read on the buckets' pool. What cannot be read is tried again the next time. True:
  /// report() has changed.
  boost::asio::awaitable<bool> ReadSummaries();

  /// For Event.TrialMeasured. `measurements` may end with a NaN: see measurement::FinalMeasurement.
  [[nodiscard]] const replica::v1::MetricReport& report() const noexcept;

  /// TrialRecord.no_metric: why there is no final measurement of each metric; empty if there is one.
  [[nodiscard]] std::string WhyNone() const;

  /// A line for the trial's log, once for each tag that was found only with TensorFlow's suffix. Empty: there
  /// is nothing new to say; until then, there may be another line.
  [[nodiscard]] std::string TakeWarning();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

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
