#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "base/clock.h"
#include "stores/storage/buckets.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::control {

/// How often the event files of a running trial are read.
inline constexpr std::chrono::seconds kSummariesInterval{10};

/// An event file that was last written up to this long before its trial was created may still be the trial's:
/// file systems store times in steps of up to a second, and the clock of the machine that wrote it may be
/// behind.
inline constexpr std::chrono::seconds kFileTimeSlack{1};

/// What is known of one trial's metric: what its master's supervisor reports, and what the event files below
/// its job directory contain. The metric file takes precedence over event files; event files in the bucket
/// take precedence over those that the program wrote locally. Loop thread only; the buckets outlive it.
/// Source: spec hyperparameter-tuning.md sections 5 and 6; docs/adr/0020-metrics.md.
class TrialMetrics {
 public:
  /// @param job_dir  "gs://BUCKET/FOLDER/TRIAL" as the trial's own --job-dir; empty: it has none, and only
  ///                 the supervisor's reports count.
  /// @param created  when the trial was created. Files written to its job directory before belong to another
  ///                 job with the same directory and do not count. The same for all attempts of the trial.
  TrialMetrics(std::string tag, std::string job_dir, SysTime created, storage::Buckets& buckets);
  ~TrialMetrics();
  TrialMetrics(const TrialMetrics&) = delete;
  TrialMetrics& operator=(const TrialMetrics&) = delete;

  /// FromReplica.metrics or ExitRecord.metrics of the master: replaces the last one. A report without
  /// measurements does not replace one that has some (a restarted program starts from nothing). True:
  /// report() has changed.
  bool Take(replica::v1::MetricReport reported);

  /// Reads what is new in event files below the job directory: every kSummariesInterval while the trial runs,
  /// and once when all its replicas have ended. One call at a time; it must have ended before the destructor
  /// runs. Files are read on the buckets' pool. What cannot be read is tried again the next time. True:
  /// report() has changed.
  boost::asio::awaitable<bool> ReadSummaries();

  /// For Event.TrialMeasured. `measurements` may end with a NaN: see measurement::FinalMeasurement.
  [[nodiscard]] const replica::v1::MetricReport& report() const noexcept;

  /// TrialRecord.no_metric: why there is no final measurement; empty if there is one.
  [[nodiscard]] std::string WhyNone() const;

  /// A line for the trial's log, once: the tag was found only with TensorFlow's suffix. Empty: there is
  /// nothing new to say.
  [[nodiscard]] std::string TakeWarning();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trainyard::control
