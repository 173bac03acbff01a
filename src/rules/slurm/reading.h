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

/// Which jobs we cancelled, so that nobody else is taken to have done it: a controller that was killed gives
/// ids twice, and a cancellation may meet the wrong job. A value with a memory; one thread.
class OwnCancels {
 public:
  /// Longer than Slurm lists ended jobs (MinJobAge). What is noted is kept for once to twice as long.
  static constexpr std::chrono::hours kKept{1};

  void Note(std::span<const std::int64_t> ids, SysTime now);
  /// Those of the jobs that we cancelled are just over.
  void TellApart(std::span<ListedJob> jobs) const;

 private:
  std::set<std::int64_t> noted_;   ///< since `since_`
  std::set<std::int64_t> before_;  ///< in the time before that
  SysTime since_;
};

/// Jobs under our names that live and that no gang owns: the ids by name.
using Strangers = std::map<std::string, std::vector<std::int64_t>>;

/// A list as it is compared with the gangs, one after the other in the order of their keys, or that there is
/// none. A value with a memory; one thread.
class ListReading {
 public:
  /// `sight`: but for what is found.
  ListReading(OurJobs ours, Sight sight) : ours_(std::move(ours)), sight_(sight) {}
  /// Why the controller did not answer.
  explicit ListReading(placement::Shortage no_answer) : no_answer_(std::move(no_answer)) {}

  [[nodiscard]] const Sight& sight() const noexcept { return sight_; }
  [[nodiscard]] const std::optional<placement::Shortage>& no_answer() const noexcept { return no_answer_; }
  /// The gang that was taken last; nothing: none yet.
  [[nodiscard]] const std::optional<GangKey>& latest() const noexcept { return latest_; }
  /// Whose the next job in the list is; nothing: it is at its end.
  [[nodiscard]] std::optional<GangKey> NextOwner() const;

  /// The jobs of a gang's present submission (number 0: it has none), valid as long as this. What stands
  /// before them in the list, or is of another submission of the gang, is a stranger.
  [[nodiscard]] std::span<ListedJob> Take(const Submission& present, Strangers& strangers);
  /// Once all gangs are taken.
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
