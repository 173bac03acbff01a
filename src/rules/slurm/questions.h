#pragma once

#include <chrono>
#include <deque>
#include <optional>

#include "base/clock.h"
#include "rules/slurm/job_name.h"

namespace trainyard::slurm {

/// Between two lists while a gang waits, while all have room, and at least.
inline constexpr std::chrono::seconds kListPause{5};
inline constexpr std::chrono::seconds kQuietPause{60};
inline constexpr std::chrono::seconds kListPauseMin{1};
/// From one list to the next passes so many times what it took, up to kQuietPause. A list keeps the
/// controller busy for a third of what it takes: so ours take at most 4 % of a CPU.
inline constexpr int kListPauseFactor = 10;
/// Questions for one job at once.
inline constexpr int kAskingOneMax = 4;

/// When Slurm is asked for the list of all jobs, one at a time, and for single ones. A value with a memory;
/// one thread.
class Questions {
 public:
  /// Something is known to have changed.
  void AskSoon() noexcept { soon_ = true; }
  /// When the next one is to be asked for; nothing: one is under way. `waiting`: a gang waits.
  [[nodiscard]] std::optional<SysTime> ListAt(bool waiting) const;
  /// Whether that is now; then it is under way from here on.
  [[nodiscard]] bool TakeList(bool waiting, SysTime now);
  /// The controller did not answer: the pause begins anew.
  void OnNoList(SysTime now) { asked_ = now; }
  /// `asked`: when the question began.
  void OnList(SysTime asked, SysTime now) { took_ = now - asked; }
  /// What came, if anything, is worked off.
  void OnListDone() noexcept { under_way_ = false; }

  /// The submission need not wait for the next list. Where many begin at once, that comes soon.
  void WantOne(const Submission& submission);
  /// The next one, if few are asked for; nothing: it is no one's turn.
  [[nodiscard]] std::optional<Submission> TakeOne();
  void OnOneAsked() noexcept { ++asking_for_one_; }
  /// `told`: it was in the answer. Else the list is asked for soon.
  void OnOneDone(bool told) noexcept;

 private:
  bool under_way_ = false;
  bool soon_ = false;
  std::optional<SysTime> asked_;  ///< the last one
  SysTime::duration took_{};      ///< the last one that came
  std::deque<Submission> wanted_;
  int asking_for_one_ = 0;
};

}  // namespace trainyard::slurm
