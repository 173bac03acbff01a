#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

/// Detects jumps of the machine's clock. Pure: any thread. Source: docs/adr/0060-clocks-that-jump.md.

namespace trainyard::retention {

/// The wall clock and the time since the machine's boot, including sleep, at one instant.
struct ClockReading {
  SysTime wall{};
  std::chrono::nanoseconds since_boot{0};
  std::string boot;  ///< the boot id; empty: not known
  friend bool operator==(const ClockReading&, const ClockReading&) = default;
};

/// The wall clock showed `after` when it should have shown `before`.
struct ClockJump {
  SysTime before{};
  SysTime after{};
  friend bool operator==(const ClockJump&, const ClockJump&) = default;
};

struct ClockHistory {
  ClockReading last{};             ///< the latest reading
  std::vector<ClockJump> jumps{};  ///< oldest first, at most kJumpsMax
  /// How far the clock is ahead because of jumps that the operator has not confirmed; negative: it went back.
  std::chrono::nanoseconds unconfirmed{0};
  friend bool operator==(const ClockHistory&, const ClockHistory&) = default;
};

inline constexpr std::chrono::minutes kDriftMax{
    5};  ///< allowed between two readings: time servers adjust clocks, too
inline constexpr std::chrono::days kOffMax{7};  ///< a machine may be off for this long without suspicion
inline constexpr std::size_t kJumpsMax = 16;

/// Adds a reading to the history. @return the jump that it shows: within one boot, the difference that the
/// time since boot does not explain; after a reboot, a clock that is behind the last reading, or ahead of it
/// by more than kOffMax.
std::optional<ClockJump> Advance(ClockHistory& history, const ClockReading& now);

/// The current time for removing old data: an unconfirmed jump ahead does not make anything older.
[[nodiscard]] SysTime NowForRemoval(const ClockHistory& history, SysTime wall);

/// The part of `now - since` that is jumps of the clock and not elapsed time. An ambiguous `since`, which the
/// clock showed twice, counts as after the jump, so that limits act late rather than early.
[[nodiscard]] std::chrono::nanoseconds JumpedSince(const ClockHistory& history, SysTime since, SysTime now);

/// "100 days", "3 hours", "12 minutes": for people.
[[nodiscard]] std::string AboutText(std::chrono::nanoseconds duration);

/// The file by which the operator confirms that the machine's clock is right. Created by `trainyard admin
/// retention --confirm`, removed by the server.
[[nodiscard]] inline std::string ClockWordFile(const std::string& data) {
  return data + "/run/clock-is-right";
}

}  // namespace trainyard::retention
