#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/clock.h"
#include "rules/slurm/gang.h"
#include "rules/slurm/job_name.h"

namespace trainyard::slurm {

/// The gangs by key, by stage, and in the order in which they are due. A value with state; one thread.
class GangTable {
 public:
  [[nodiscard]] std::map<GangKey, SlurmGang>& all() noexcept { return all_; }
  [[nodiscard]] const std::map<GangKey, SlurmGang>& all() const noexcept { return all_; }
  /// Null: there is no such gang, or its present submission is another one.
  [[nodiscard]] SlurmGang* Find(const Submission& submission);
  [[nodiscard]] const SlurmGang* Find(const Submission& submission) const;

  /// The gang's next stage, which begins now. It is not due any more, nor missing in lists.
  void Enter(const GangKey& key, SlurmGang& gang, GangStage stage, SysTime now);
  void SetDue(const GangKey& key, SlurmGang& gang, std::optional<SysTime> due);
  void Erase(const GangKey& key);

  /// The gang that was due first, if that is not after `now`; it is not due any more.
  [[nodiscard]] std::optional<GangKey> TakeDue(SysTime now);
  /// When the next gang is due; nullopt: none is.
  [[nodiscard]] std::optional<SysTime> NextDue() const;
  /// How many calls of sbatch run.
  [[nodiscard]] int submitting() const noexcept { return submitting_; }
  /// Whether some gang needs frequent lists.
  [[nodiscard]] bool waits() const noexcept { return waiting_ > 0; }

 private:
  void CountStage(GangStage stage, int change);

  std::map<GangKey, SlurmGang> all_;
  std::set<std::pair<SysTime, GangKey>> due_;
  int submitting_ = 0;
  int waiting_ = 0;
};

}  // namespace trainyard::slurm
