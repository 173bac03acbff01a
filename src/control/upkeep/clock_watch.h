#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/async/guarded.h"
#include "base/clock.h"
#include "rules/retention/clock_jumps.h"

namespace trainyard::control {

/// Compares the machine's clock with elapsed time and with the last time a server ran (a file in the data
/// directory), so that a wrong clock does not remove data or end jobs. Any thread; blocks briefly, sometimes
/// to write a small file.
class ClockWatch {
 public:
  using Read = std::function<retention::ClockReading()>;
  [[nodiscard]] static retention::ClockReading ReadKernel();

  /// @param data  the data directory. If no server has left a note yet, the last change of its databases
  ///        counts instead.
  explicit ClockWatch(const std::string& data, Read read = ReadKernel);

  /// Logs a jump of the clock. Also applies the operator's confirmation, if it was given (ConfirmClock).
  void Look();
  /// The time by which old data is removed: docs/adr/0060.
  [[nodiscard]] SysTime NowForRemoval();
  [[nodiscard]] std::chrono::nanoseconds JumpedSince(SysTime since);
  /// How far the clock is ahead because of unconfirmed jumps, if it is.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> Doubt();
  /// Accepts the clock as right: confirmed by the operator, or because it makes no difference.
  void Confirm();

 private:
  void Advance(retention::ClockHistory& history);
  void Save(const retention::ClockHistory& history);

  std::string file_;
  std::string word_;
  std::string data_;
  Read read_;
  std::optional<std::chrono::nanoseconds> saved_;  ///< since the machine's start
  Guarded<retention::ClockHistory> history_;
};

/// A clock with the time of ClockWatch::NowForRemoval. Any thread; the watch outlives it.
class RemovalClock final : public Clock {
 public:
  explicit RemovalClock(ClockWatch& watch) : watch_(watch) {}
  [[nodiscard]] SysTime Now() const override { return watch_.NowForRemoval(); }

 private:
  ClockWatch& watch_;
};

}  // namespace trainyard::control
