#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace trainyard::retention
