#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "base/clock.h"
#include "storage/buckets.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::control {

/// How often a running trial's event files are worth a look.
inline constexpr std::chrono::seconds kSummariesInterval{10};

/// An event file that was last written this long before its trial was created may still be the trial's: file
/// systems keep times in steps of up to a second, and the clock of the machine that wrote it may be late.
inline constexpr std::chrono::seconds kFileTimeSlack{1};

/// What is known of one trial's metric: what its master's supervisor reports, and what event files below its
/// job directory say. The metric file wins over event files, those of the bucket over those that the program
/// wrote locally. Loop thread only; the buckets outlive it.
/// Source: spec hyperparameter-tuning.md sections 5 and 6; docs/adr/0020-metrics.md.
class TrialMetrics {
 public:
  /// @param job_dir  "gs://BUCKET/FOLDER/TRIAL" as the trial's own --job-dir; empty: it has none, and only
  ///                 the supervisor is listened to.
  /// @param created  when the trial was: what was written to its job directory before is another job's, which
  ///                 had the same one, and does not count. The same for all attempts of the trial.
  TrialMetrics(std::string tag, std::string job_dir, SysTime created, storage::Buckets& buckets);
  ~TrialMetrics();
  TrialMetrics(const TrialMetrics&) = delete;
  TrialMetrics& operator=(const TrialMetrics&) = delete;

  /// FromReplica.metrics or ExitRecord.metrics of the master: as a whole, in place of its last one. One
  /// without measurements does not replace one that has some (a restarted program begins anew).
  /// True: report() has changed.
  bool Take(replica::v1::MetricReport reported);

  /// Reads what is new in event files below the job directory: every kSummariesInterval while the trial
  /// runs, and once when all its replicas have ended. One call at a time, to its end before the destructor.
  /// Reading is done on the buckets' pool. What cannot be read is left for the next time.
  /// True: report() has changed.
  boost::asio::awaitable<bool> ReadSummaries();

  /// For Event.TrialMeasured. `measurements` may end with a NaN: measurement::FinalMeasurement tells.
  [[nodiscard]] const replica::v1::MetricReport& report() const noexcept;

  /// TrialRecord.no_metric: why there is no final measurement; empty if there is one.
  [[nodiscard]] std::string WhyNone() const;

  /// A line for the trial's log, once: the tag was found only with TensorFlow's suffix. Empty: nothing (new).
  [[nodiscard]] std::string TakeWarning();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trainyard::control
