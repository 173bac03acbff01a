#pragma once

#include <chrono>
#include <optional>

#include "base/clock.h"

namespace trainyard::slurm {

/// Between two lists while a gang waits, while all have room, and at least.
inline constexpr std::chrono::seconds kListPause{5};
inline constexpr std::chrono::seconds kQuietPause{60};
inline constexpr std::chrono::seconds kListPauseMin{1};

/// When Slurm is asked for the list of all jobs: one at a time. A value with a memory; one thread.
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
  /// What came, if anything, is worked off.
  void OnListDone() noexcept { under_way_ = false; }

 private:
  bool under_way_ = false;
  bool soon_ = false;
  std::optional<SysTime> asked_;  ///< the last one
};

}  // namespace trainyard::slurm
