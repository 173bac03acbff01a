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

/// How long something is kept; nullopt: forever.
using Keep = std::optional<std::chrono::seconds>;

inline constexpr std::chrono::days kKeepMax{36'500};

/// Parses "90d", "12h", "30m", "45s" or "never" (never remove it). kInvalidArgument with the reason.
[[nodiscard]] Result<Keep> ParseKeep(std::string_view text);
/// Inverse of ParseKeep, in the largest unit that is exact.
[[nodiscard]] std::string KeepText(Keep keep);
/// "90 days", "1 hour"; for a Keep that is not nullopt.
[[nodiscard]] std::string AgeText(std::chrono::seconds age);

/// Things that were last used before this time are removed; nullopt: nothing is removed.
[[nodiscard]] std::optional<SysTime> Cutoff(Keep keep, SysTime now);

/// How long an installation keeps its data.
struct Policy {
  Keep jobs = std::chrono::days(90);  ///< since their end; jobs.list shows them for this time
  Keep logs = std::chrono::days(30);  ///< since the last line of a job that has ended
  Keep scratch =
      std::chrono::days(7);  ///< files left by killed builds and ended attempts, since their last change
  Keep environments =
      std::chrono::days(90);  ///< runtime versions and layers, since the last program started in them
  std::optional<std::int64_t> environments_bytes;  ///< limit of their total size; nullopt: none
};

/// The pause between two sweeps: an hour, or less if something is kept for a shorter time (tests).
inline constexpr std::chrono::seconds kSweepPauseMax{3'600};
inline constexpr std::chrono::seconds kSweepPauseMin{1};
[[nodiscard]] std::chrono::seconds SweepPause(const Policy& policy);

// Selects the things to remove. Pure: any thread.

/// One thing that may be removed.
struct Candidate {
  SysTime last_used;
  std::int64_t bytes = 0;  ///< only used if there is a limit of bytes
  bool needed = false;     ///< a running attempt uses it, or a waiting job needs it: it is not removed
};

struct Limits {
  Keep age;
  std::optional<std::int64_t> bytes_max{};  ///< limit of the total size; nullopt: none
};

enum class Why { kAge, kSize };

struct Removal {
  std::size_t index = 0;  ///< in the list
  Why why = Why::kAge;
  friend bool operator==(const Removal&, const Removal&) = default;
};

/// The things to remove at `now`, the least recently used first: everything that was not used for longer than
/// the age, then more until the rest is within bytes_max or only needed things are left. Needed things count
/// towards the size and are not removed; a last use in the future counts as now.
[[nodiscard]] std::vector<Removal> WhatGoes(std::span<const Candidate> list, const Limits& limits,
                                            SysTime now);

/// How many of all things would be removed.
struct Share {
  std::int64_t going = 0;
  std::int64_t all = 0;
  /// Whether it is at most a tenth: this much is removed even if the clock is in doubt.
  [[nodiscard]] bool IsSmall() const { return going * kSmallShare <= all; }
  static constexpr std::int64_t kSmallShare = 10;
};

}  // namespace trainyard::retention
