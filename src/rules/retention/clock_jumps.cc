#include "rules/retention/clock_jumps.h"

#include <algorithm>
#include <cstdint>
#include <ranges>

#include "base/text/number.h"

namespace trainyard::retention {

namespace {

using text::Counted;

using std::chrono::nanoseconds;

/// The expected time according to the last reading; nullopt if the new reading is plausible.
std::optional<SysTime> Expected(const ClockReading& last, const ClockReading& now) {
  if (!last.boot.empty() && last.boot == now.boot) {
    const SysTime expected = last.wall + (now.since_boot - last.since_boot);
    if (std::chrono::abs(now.wall - expected) <= kDriftMax) return std::nullopt;
    return expected;
  }
  const nanoseconds off = now.wall - last.wall;
  if (off >= -nanoseconds(kDriftMax) && off <= nanoseconds(kOffMax)) return std::nullopt;
  return last.wall;
}

}  // namespace

std::optional<ClockJump> Advance(ClockHistory& history, const ClockReading& now) {
  const std::optional<SysTime> expected = Expected(history.last, now);
  history.last = now;
  if (!expected) return std::nullopt;
  const ClockJump jump{.before = *expected, .after = now.wall};
  history.unconfirmed += jump.after - jump.before;
  if (std::chrono::abs(history.unconfirmed) <= kDriftMax) history.unconfirmed = nanoseconds{0};
  history.jumps.push_back(jump);
  if (history.jumps.size() > kJumpsMax) history.jumps.erase(history.jumps.begin());
  return jump;
}

SysTime NowForRemoval(const ClockHistory& history, SysTime wall) {
  return wall - std::max(history.unconfirmed, nanoseconds{0});
}

nanoseconds JumpedSince(const ClockHistory& history, SysTime since, SysTime now) {
  nanoseconds jumped{0};
  SysTime end = now;  // of the time between two jumps that is looked at, the last one first
  for (const ClockJump& jump : history.jumps | std::views::reverse) {
    if (since >= jump.after - kDriftMax && since <= end) return jumped;
    jumped += jump.after - jump.before;
    end = jump.before;
  }
  return since <= end ? jumped : now - since;  // else the clock showed it before all stored jumps
}

std::string AboutText(nanoseconds duration) {
  const nanoseconds size = std::chrono::abs(duration);
  if (size >= std::chrono::days(2))
    return Counted(std::chrono::round<std::chrono::days>(size).count(), "day");
  if (size >= std::chrono::hours(2))
    return Counted(std::chrono::round<std::chrono::hours>(size).count(), "hour");
  return Counted(std::chrono::round<std::chrono::minutes>(size).count(), "minute");
}

}  // namespace trainyard::retention
