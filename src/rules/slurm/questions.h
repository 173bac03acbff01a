#pragma once

#include <chrono>
#include <deque>
#include <optional>

#include "base/clock.h"
#include "rules/slurm/job_name.h"

namespace trainyard::slurm {

/// Pauses between two lists: while a gang waits, while all have their resources, and the minimum.
inline constexpr std::chrono::seconds kListPause{5};
inline constexpr std::chrono::seconds kQuietPause{60};
inline constexpr std::chrono::seconds kListPauseMin{1};
/// The pause after a list is at least this many times the list's duration, up to kQuietPause. A list keeps
/// the controller busy for a third of its duration, so our lists take at most 4 % of a CPU.
inline constexpr int kListPauseFactor = 10;
/// The maximum number of concurrent requests for single jobs.
inline constexpr int kAskingOneMax = 4;

/// Schedules requests for the list of all jobs, one at a time, and for single jobs. A value with state; one
/// thread.
class Questions {
 public:
  /// Requests a list soon, because something has changed.
  void AskSoon() noexcept { soon_ = true; }
  /// When to request the next list; nullopt: a request is running. `waiting`: whether a gang waits.
  [[nodiscard]] std::optional<SysTime> ListAt(bool waiting) const;
  /// Whether it is time for a list; if so, the request counts as running from now on.
  [[nodiscard]] bool TakeList(bool waiting, SysTime now);
  /// The controller did not respond: the pause starts over.
  void OnNoList(SysTime now) { asked_ = now; }
  /// A list has arrived. `asked`: when its request began.
  void OnList(SysTime asked, SysTime now) { took_ = now - asked; }
  /// The list, if there was one, has been processed.
  void OnListDone() noexcept { under_way_ = false; }

  /// Requests the job of one submission without waiting for the next list. If there are many of them, the
  /// list is requested soon instead.
  void WantOne(const Submission& submission);
  /// The next submission to request, unless too many requests are running; nullopt: none now.
  [[nodiscard]] std::optional<Submission> TakeOne();
  void OnOneAsked() noexcept { ++asking_for_one_; }
  /// `told`: the job was in the response. Otherwise the list is requested soon.
  void OnOneDone(bool told) noexcept;

 private:
  bool under_way_ = false;
  bool soon_ = false;
  std::optional<SysTime> asked_;  ///< the last one
  SysTime::duration took_{};      ///< duration of the last one that arrived
  std::deque<Submission> wanted_;
  int asking_for_one_ = 0;
};

}  // namespace trainyard::slurm
