#include "rules/retention/keep.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <numeric>
#include <utility>

namespace trainyard::retention {

namespace {

constexpr std::string_view kNever = "never";

struct Unit {
  char letter;
  std::string_view name;
  std::int64_t seconds;
};
constexpr std::array<Unit, 4> kUnits{
    {{'d', "day", 86'400}, {'h', "hour", 3'600}, {'m', "minute", 60}, {'s', "second", 1}}};

const Unit& LargestExact(std::int64_t seconds) {
  for (const Unit& unit : kUnits)
    if (seconds % unit.seconds == 0) return unit;
  return kUnits.back();
}

std::unexpected<Error> Wrong(std::string_view text) {
  return std::unexpected(InvalidArgument({}, "'" + std::string(text) +
                                                 "' is no time to keep it, as 90d, 12h, 30m, 45s (1s to " +
                                                 KeepText(kKeepMax) + ") or never"));
}

}  // namespace

Result<Keep> ParseKeep(std::string_view text) {
  if (text == kNever) return std::nullopt;
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest + 1 != end) return Wrong(text);
  for (const Unit& unit : kUnits) {
    if (unit.letter != *rest) continue;
    const std::int64_t number_max = std::chrono::seconds(kKeepMax).count() / unit.seconds;
    if (number < 1 || number > number_max) return Wrong(text);
    return std::chrono::seconds(number * unit.seconds);
  }
  return Wrong(text);
}

std::string KeepText(Keep keep) {
  if (!keep) return std::string(kNever);
  const Unit& unit = LargestExact(keep->count());
  return std::to_string(keep->count() / unit.seconds) + unit.letter;
}

std::string AgeText(std::chrono::seconds age) {
  const Unit& unit = LargestExact(age.count());
  const std::int64_t number = age.count() / unit.seconds;
  return std::to_string(number) + " " + std::string(unit.name) + (number == 1 ? "" : "s");
}

std::optional<SysTime> Cutoff(Keep keep, SysTime now) {
  if (!keep) return std::nullopt;
  return now - *keep;
}

std::vector<Removal> WhatGoes(std::span<const Candidate> list, const Limits& limits, SysTime now) {
  std::vector<std::size_t> by_use(list.size());
  std::iota(by_use.begin(), by_use.end(), std::size_t{0});
  std::ranges::sort(by_use, {}, [&](std::size_t index) { return std::pair(list[index].last_used, index); });
  const std::optional<SysTime> cutoff = Cutoff(limits.age, now);
  std::int64_t bytes = 0;
  for (const Candidate& one : list) bytes += one.bytes;
  std::vector<Removal> going;
  for (const std::size_t index : by_use) {
    const Candidate& one = list[index];
    if (one.needed) continue;
    const bool is_old = cutoff && one.last_used < *cutoff;
    const bool is_too_much = limits.bytes_max && bytes > *limits.bytes_max;
    if (!is_old && !is_too_much) continue;
    going.push_back({.index = index, .why = is_old ? Why::kAge : Why::kSize});
    bytes -= one.bytes;
  }
  return going;
}

std::chrono::seconds SweepPause(const Policy& policy) {
  std::chrono::seconds pause = kSweepPauseMax;
  for (const Keep& keep : {policy.jobs, policy.logs, policy.scratch, policy.environments})
    if (keep) pause = std::min(pause, *keep / 2);
  return std::max(pause, kSweepPauseMin);
}

}  // namespace trainyard::retention
