#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

/// How long something is kept. Pure: any thread.

namespace trainyard::retention {

/// Nothing: for ever.
using Keep = std::optional<std::chrono::seconds>;

inline constexpr std::chrono::seconds kKeepMin{1};
inline constexpr std::chrono::days kKeepMax{36'500};

/// "90d", "12h", "30m", "45s" or "never" (to remove it). kInvalidArgument with the reason.
[[nodiscard]] Result<Keep> ParseKeep(std::string_view text);
/// As ParseKeep reads it, in the largest unit that is exact.
[[nodiscard]] std::string KeepText(Keep keep);
/// "90 days", "1 hour"; of a keep that is not for ever.
[[nodiscard]] std::string AgeText(std::chrono::seconds age);

/// What was last used before this goes; nothing: nothing does.
[[nodiscard]] std::optional<SysTime> Cutoff(Keep keep, SysTime now);

/// What an installation keeps, and for how long.
struct Policy {
  Keep jobs = std::chrono::days(90);    ///< since they ended; as long as jobs.list shows them
  Keep logs = std::chrono::days(30);    ///< since the last line of a job that has ended
  Keep scratch = std::chrono::days(7);  ///< what killed builds and ended attempts left, since it changed
  Keep environments = std::chrono::days(90);  ///< runtime versions and layers, since a program began in them
  std::optional<std::int64_t> environments_bytes;  ///< of all of them; absent: any size
};

/// Between two sweeps: an hour, or less where something is kept for a shorter time (tests).
inline constexpr std::chrono::seconds kSweepPauseMax{3'600};
inline constexpr std::chrono::seconds kSweepPauseMin{1};
[[nodiscard]] std::chrono::seconds SweepPause(const Policy& policy);

// Which of some things go. Pure: any thread.

/// One thing that may go.
struct Kept {
  SysTime last_used;
  std::int64_t bytes = 0;  ///< counts where there is a limit of bytes only
  bool needed = false;     ///< a running attempt uses it, or a job that waits needs it: it stays
};

struct Limits {
  Keep age;
  std::optional<std::int64_t> bytes_max{};  ///< of all together; absent: any size
};

enum class Why { kAge, kSize };

struct Going {
  std::size_t index = 0;  ///< in the list
  Why why = Why::kAge;
  friend bool operator==(const Going&, const Going&) = default;
};

/// What goes at `now`, the least recently used first: all that was not used for longer than the age, then
/// more until the rest fits into the bytes, or only what is needed is left. What is needed counts and stays;
/// what was used in the future is new.
[[nodiscard]] std::vector<Going> WhatGoes(std::span<const Kept> list, const Limits& limits, SysTime now);

/// How many of all there are would go.
struct Share {
  std::int64_t going = 0;
  std::int64_t all = 0;
  /// At most a tenth: that much goes even by a clock that is in doubt.
  [[nodiscard]] bool IsSmall() const { return going * kSmallShare <= all; }
  static constexpr std::int64_t kSmallShare = 10;
};

}  // namespace trainyard::retention
