#include "rules/retention/what_goes.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace trainyard::retention {

std::vector<Going> WhatGoes(std::span<const Kept> list, const Limits& limits, SysTime now) {
  std::vector<std::size_t> by_use(list.size());
  std::iota(by_use.begin(), by_use.end(), std::size_t{0});
  std::ranges::sort(by_use, {}, [&](std::size_t index) { return std::pair(list[index].last_used, index); });
  const std::optional<SysTime> cutoff = Cutoff(limits.age, now);
  std::int64_t bytes = 0;
  for (const Kept& one : list) bytes += one.bytes;
  std::vector<Going> going;
  for (const std::size_t index : by_use) {
    const Kept& one = list[index];
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
