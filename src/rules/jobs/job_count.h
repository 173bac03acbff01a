#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "trainyard/control/v1/job_rows.pb.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::jobs {

/// Counts jobs, one after the other, for a JobSummary. Bounded: it remembers at most kLabelsCounted labels
/// and kCreatorsMax creators; of others it counts nothing more. A value.
class JobCount {
 public:
  static constexpr std::size_t kLabelsMax = 100;  ///< of a summary: those of most jobs
  static constexpr std::size_t kLabelsCounted = 10'000;
  static constexpr std::size_t kCreatorsMax = 200;

  void Add(const control::v1::JobRecord& job);

  /// Labels of equally many jobs by key and value.
  [[nodiscard]] control::v1::JobSummary Summary() const;

 private:
  std::int64_t jobs_ = 0;
  std::int64_t tuning_ = 0;
  std::map<ml::v1::Job::State, std::int64_t> by_state_;
  std::map<std::pair<std::string, std::string>, std::int64_t> labels_;
  std::set<std::string> creators_;
};

}  // namespace trainyard::jobs
