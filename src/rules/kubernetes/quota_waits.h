#pragma once

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>
#include <vector>

#include "rules/kubernetes/object_name.h"

namespace trainyard::kubernetes {

/// The longest pause while a quota has no room: other pods than ours may have ended.
inline constexpr std::chrono::seconds kQuotaPause{60};
/// If many gangs wait for a quota, the pause is this long for each of them, so that they make few requests.
inline constexpr std::chrono::milliseconds kQuotaPauseEach{500};
/// The most gangs that are tried again because one pod has ended.
inline constexpr int kQuotaRetriesMax = 8;

/// Gangs that a quota has refused. A value; one thread.
class QuotaWaits {
 public:
  void Add(const GangKey& key, int priority) { gangs_.emplace(-priority, key); }
  /// Does nothing if it is not there.
  void Remove(const GangKey& key, int priority) { gangs_.erase({-priority, key}); }
  /// Removes those that are tried again first.
  [[nodiscard]] std::vector<GangKey> TakeSome() {
    std::vector<GangKey> some;
    for (int i = 0; i < kQuotaRetriesMax && !gangs_.empty(); ++i)
      some.push_back(gangs_.extract(gangs_.begin()).value().second);
    return some;
  }
  /// How long one more gang waits that would wait for `pause`.
  [[nodiscard]] std::chrono::milliseconds PauseOf(std::chrono::seconds pause) const {
    return std::max<std::chrono::milliseconds>(std::min(pause, kQuotaPause),
                                               kQuotaPauseEach * std::ssize(gangs_));
  }

 private:
  std::set<std::pair<int, GangKey>> gangs_;  ///< by falling priority
};

}  // namespace trainyard::kubernetes
