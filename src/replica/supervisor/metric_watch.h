#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "programs/attempt/attempt_dir.h"
#include "replica/supervisor/metric_file.h"
#include "rules/measurement/hypertune_file.h"
#include "rules/measurement/summaries.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

/// How often a replica's own directories are searched for event files; rarely enough that searching takes at
/// most a twentieth of the time. The metric file is read whenever it was written.
inline constexpr std::chrono::milliseconds kSearchInterval{5'000};

/// Reports are not sent more often.
inline constexpr std::chrono::milliseconds kReportInterval{1'000};

/// How much is looked at in a search for event files, so that it ends whatever a program unpacks. What is
/// beyond the limits is not found, and the report says that there is more.
struct SearchLimits {
  std::size_t folder_entries = 50'000;  ///< of one directory, so that a full one leaves some for the others
  std::size_t entries = 300'000;        ///< of all folders together
  int depth = 16;                       ///< folders inside each other, below one of the replica's own
};

/// What the program of a trial's master reports, by the files that it writes into the replica's own
/// directories: the metric file of cloudml-hypertune, else TensorFlow's event files. Driven by its owner's
/// poll loop; reads in slices. Links are not followed. One thread. Source: spec hyperparameter-tuning.md
/// sections 5 and 6; docs/adr/0020-metrics.md.
class MetricWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Before the program starts: makes the directory of the metric file.
  MetricWatch(std::string tag, AttemptDir dir, Time now, SearchLimits limits = {});
  MetricWatch(const MetricWatch&) = delete;
  MetricWatch& operator=(const MetricWatch&) = delete;

  /// The metric file's notices. Poll it for input.
  [[nodiscard]] int fd() const noexcept { return metric_file_.fd(); }
  void OnReadable();
  /// When Step or TakeDue has something to do without any event.
  [[nodiscard]] Time deadline() const noexcept;
  void Step(Time now);
  /// Everything that is there, now that nothing writes any more.
  void ReadRest();

  [[nodiscard]] v1::MetricReport Report() const;
  /// Whether a report is to be sent now: something is new, and the last one is kReportInterval ago. To be
  /// asked in every round, whether or not it can be sent.
  [[nodiscard]] bool TakeDue(Time now);
  /// A line for the log, once: the tag was found only with TensorFlow's suffix. Empty: nothing (new).
  [[nodiscard]] std::string TakeWarning();

 private:
  /// A directory of the replica, as it is called in a report.
  struct Root {
    std::string shown;
    std::string path;
  };
  struct Found {
    const Root* root;
    std::string path;  ///< below the root
  };

  void ReadMetricFile();
  void Search();
  bool ReadSome(const Found& file, std::uint64_t bytes_max);

  std::string tag_;
  AttemptDir dir_;
  SearchLimits limits_;
  std::vector<Root> roots_;
  MetricFile metric_file_;  ///< without its notices the search reads it as well, only later
  Time next_;
  measurement::HypertuneFile file_;
  bool file_seen_ = false;
  measurement::Summaries summaries_;
  std::vector<Found> waiting_;  ///< found and not read yet; the last is next
  bool searched_all_ = true;    ///< the last search met no limit
  bool changed_ = false;
  Time due_{};  ///< of the next report, if there is one
  bool warned_ = false;
};

}  // namespace trainyard::replica
