#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "rules/placement/wait.h"
#include "rules/slurm/gang.h"
#include "rules/slurm/job_list.h"
#include "rules/slurm/job_name.h"

namespace trainyard::slurm {

/// Remembers the jobs that we cancelled, so that these cancellations are not attributed to others: a
/// controller that was killed reuses ids, and a cancellation may hit the wrong job. A value with state; one
/// thread.
class OwnCancels {
 public:
  /// Longer than Slurm lists ended jobs (MinJobAge). Ids are kept for one to two times as long.
  static constexpr std::chrono::hours kKept{1};

  void Note(std::span<const std::int64_t> ids, SysTime now);
  /// Changes the state of cancelled jobs to kOver if we cancelled them.
  void TellApart(std::span<ListedJob> jobs) const;

 private:
  std::set<std::int64_t> noted_;   ///< ids noted since `since_`
  std::set<std::int64_t> before_;  ///< ids noted in the period before
  SysTime since_;
};

/// Live jobs with our names that belong to no gang: ids by name.
using Strangers = std::map<std::string, std::vector<std::int64_t>>;

/// The progress of comparing a list with the gangs, in the order of their keys; or the failure to get a list.
/// A value with state; one thread.
class ListReading {
 public:
  /// `sight`: everything except `found`.
  ListReading(OurJobs ours, Sight sight) : ours_(std::move(ours)), sight_(sight) {}
  /// `no_answer`: why the controller did not respond.
  explicit ListReading(placement::Shortage no_answer) : no_answer_(std::move(no_answer)) {}

  [[nodiscard]] const Sight& sight() const noexcept { return sight_; }
  [[nodiscard]] const std::optional<placement::Shortage>& no_answer() const noexcept { return no_answer_; }
  /// The gang that was taken last; nullopt: none yet.
  [[nodiscard]] const std::optional<GangKey>& latest() const noexcept { return latest_; }
  /// The gang of the next job in the list; nullopt: end of the list.
  [[nodiscard]] std::optional<GangKey> NextOwner() const;

  /// The jobs of a gang's current submission (number 0: it has none), valid as long as this object. Jobs
  /// before them in the list, and those of other submissions of the gang, are added to `strangers`.
  [[nodiscard]] std::span<ListedJob> Take(const Submission& present, Strangers& strangers);
  /// Adds the remaining jobs to `strangers`; call it after all gangs were taken.
  void TakeRest(Strangers& strangers);

 private:
  void TakeStranger(Strangers& strangers);

  OurJobs ours_{};
  std::size_t next_ = 0;
  std::optional<GangKey> latest_;
  Sight sight_{};
  std::optional<placement::Shortage> no_answer_;
};

}  // namespace trainyard::slurm
