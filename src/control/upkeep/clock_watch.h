#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/async/guarded.h"
#include "base/clock.h"
#include "rules/retention/clock_jumps.h"

namespace trainyard::control {

/// Compares the machine's clock with the time that passes and with when a server was here last (a file in the
/// data directory), so that a wrong clock removes nothing and ends no job. Any thread; blocking for an
/// instant, and for a small file now and then.
class ClockWatch {
 public:
  using Read = std::function<retention::ClockReading()>;
  [[nodiscard]] static retention::ClockReading ReadKernel();

  /// @param data  the data directory. Where no server has left a note yet, the last change of its databases
  ///        says when one was here.
  explicit ClockWatch(const std::string& data, Read read = ReadKernel);

  /// Says a jump in the log. Also takes the operator's word, if it was given (ConfirmClock).
  void Look();
  /// Old things go by this time: docs/adr/0060.
  [[nodiscard]] SysTime NowForRemoval();
  [[nodiscard]] std::chrono::nanoseconds JumpedSince(SysTime since);
  /// How far the clock is ahead by jumps that nobody has confirmed: more than nothing.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> Doubt();
  /// The clock is right: by the operator's word, or because it makes no difference.
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

/// Its time is ClockWatch::NowForRemoval. Any thread; the watch outlives it.
class RemovalClock final : public Clock {
 public:
  explicit RemovalClock(ClockWatch& watch) : watch_(watch) {}
  [[nodiscard]] SysTime Now() const override { return watch_.NowForRemoval(); }

 private:
  ClockWatch& watch_;
};

}  // namespace trainyard::control
