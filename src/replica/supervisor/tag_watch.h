#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "replica/supervisor/metric_file.h"
#include "rules/measurement/hypertune_tags.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

/// What changed is not reported more often.
inline constexpr std::chrono::milliseconds kTagsInterval{2'000};
/// Reading the metric file takes at most this part of the supervisor's time: 1 / kTagsRest.
inline constexpr int kTagsRest = 10;

/// What a master's program reports with cloudml-hypertune under any tag, in any job; a tuning job's own tag
/// is MetricWatch's. Nothing happens, and no time passes, before the program writes the file. Driven by its
/// owner's poll loop; one thread.
class TagWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Before the program starts. @param metric_tag  of a tuning job; empty: it is none.
  TagWatch(std::string metric_tag, const AttemptDir& dir) : file_(dir), tags_(std::move(metric_tag)) {}

  /// Poll it for input; -1: there is none, or it is to rest.
  [[nodiscard]] int fd() const noexcept { return rest_end_ ? -1 : file_.fd(); }
  void OnReadable(Time now);
  /// When TakeDue has something to do without any event.
  [[nodiscard]] Time deadline() const noexcept;
  /// What is to be sent now. To be asked in every round, whether or not it can be sent.
  [[nodiscard]] std::vector<v1::MetricReport> TakeDue(Time now);
  /// What is there, now that nothing writes any more.
  void ReadRest() { Read(); }

  [[nodiscard]] const measurement::HypertuneTags& tags() const noexcept { return tags_; }

 private:
  void Read();

  MetricFile file_;
  measurement::HypertuneTags tags_;
  Time due_{};                    ///< of the next reports, if there are any
  std::optional<Time> rest_end_;  ///< the file is not read before
};

}  // namespace trainyard::replica
