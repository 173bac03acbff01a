#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "trainyard/control/v1/job_rows.pb.h"
#include "trainyard/control/v1/record.pb.h"

/// A job as a row of a table. Pure: any thread.

namespace trainyard::jobs {

/// Limits of JobRow.reason, and of its other texts.
inline constexpr std::size_t kReasonBytesMax = 400;
inline constexpr std::size_t kRowWordsBytesMax = 200;

/// How a job came here, as views show it: without the resource.
[[nodiscard]] control::v1::SubmittedAs WithoutResource(const control::v1::SubmittedAs& submitted);

/// The row of a job or a tuning job; some hundred bytes without its labels.
///
/// @param waits_for  one sentence: what it waits for; empty: it does not wait. Not used once the job has
///     ended: then the reason is the first line of errorMessage.
[[nodiscard]] control::v1::JobRow RowOf(const control::v1::JobRecord& record, std::string_view waits_for);

/// Counts jobs, one after the other, for a JobSummary. Bounded: it remembers at most kLabelsCounted labels
/// and kCreatorsMax creators and ignores others. A value.
class JobCount {
 public:
  static constexpr std::size_t kLabelsMax = 100;  ///< in a summary: those with the most jobs
  static constexpr std::size_t kLabelsCounted = 10'000;
  static constexpr std::size_t kCreatorsMax = 200;

  void Add(const control::v1::JobRecord& job);

  /// Labels with the same number of jobs are ordered by key and value.
  [[nodiscard]] control::v1::JobSummary Summary() const;

 private:
  std::int64_t jobs_ = 0;
  std::int64_t tuning_ = 0;
  std::map<ml::v1::Job::State, std::int64_t> by_state_;
  std::map<std::pair<std::string, std::string>, std::int64_t> labels_;
  std::set<std::string> creators_;
};

}  // namespace trainyard::jobs
