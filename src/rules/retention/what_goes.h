#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "rules/retention/keep.h"
#include "rules/retention/policy.h"

/// Which of some things go. Pure: any thread.
namespace trainyard::retention {

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
