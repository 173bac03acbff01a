#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

/// What is to be believed of the machine's clock. Pure: any thread. Source:
/// docs/adr/0060-clocks-that-jump.md.

namespace trainyard::retention {

/// The wall clock and the time since the machine's start, sleep included, at one instant.
struct ClockReading {
  SysTime wall{};
  std::chrono::nanoseconds since_boot{0};
  std::string boot;  ///< which start of the machine; empty: not known
  friend bool operator==(const ClockReading&, const ClockReading&) = default;
};

/// The wall clock said `after` when it should have said `before`.
struct ClockJump {
  SysTime before{};
  SysTime after{};
  friend bool operator==(const ClockJump&, const ClockJump&) = default;
};

struct ClockHistory {
  ClockReading last{};             ///< the last one that was looked at
  std::vector<ClockJump> jumps{};  ///< oldest first, at most kJumpsMax
  /// How far the clock is ahead by jumps that nobody has confirmed; negative: it went back.
  std::chrono::nanoseconds unconfirmed{0};
  friend bool operator==(const ClockHistory&, const ClockHistory&) = default;
};

inline constexpr std::chrono::minutes kDriftMax{5};  ///< between two looks: time servers move clocks, too
inline constexpr std::chrono::days kOffMax{7};       ///< for so long a machine is off without being asked why
inline constexpr std::size_t kJumpsMax = 16;

/// Takes a reading into the history. @return the jump that it shows: within one start of the machine, all
/// that the time since boot does not explain; after another start, a clock that is behind the last reading,
/// or ahead of it by more than kOffMax.
std::optional<ClockJump> Advance(ClockHistory& history, const ClockReading& now);

/// By what time old things go: a clock that is ahead by an unconfirmed jump makes nothing older.
[[nodiscard]] SysTime NowForRemoval(const ClockHistory& history, SysTime wall);

/// How much of `now - since` is jumps of the clock and no time that passed. What lies in doubt, because the
/// clock showed that time twice, counts as after the jump: limits act late rather than early.
[[nodiscard]] std::chrono::nanoseconds JumpedSince(const ClockHistory& history, SysTime since, SysTime now);

/// "100 days", "3 hours", "12 minutes": for people.
[[nodiscard]] std::string AboutText(std::chrono::nanoseconds duration);

/// The file that is the operator's word: the machine's clock is right. Made by `trainyard admin retention
/// --confirm`, taken away by the server.
[[nodiscard]] inline std::string ClockWordFile(const std::string& data) {
  return data + "/run/clock-is-right";
}

}  // namespace trainyard::retention
