#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "placement/plan.h"

namespace trainyard::placement {

/// The gangs that wait, in the order of admission: by priority (high first), then age, then uid. Keeps the
/// order, so that neither an arrival nor a plan looks at all of a long queue. One thread.
class Queue {
 public:
  Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Its uid is not in the queue.
  void Add(Gang gang);
  /// Out of the queue; nothing if it is not in it.
  std::optional<Gang> Take(std::int64_t uid);

  [[nodiscard]] bool empty() const noexcept { return order_.empty(); }
  /// First to last; valid until the queue changes.
  [[nodiscard]] std::span<const Gang* const> InOrder() const noexcept { return order_; }
  /// Where it waits and what for; nothing for one that does not wait. `shortage`: what the first one waits
  /// for (Plan::shortage).
  [[nodiscard]] std::optional<Wait> WaitOf(std::int64_t uid, std::string_view shortage) const;

 private:
  [[nodiscard]] std::vector<const Gang*>::const_iterator Find(const Gang& gang) const;

  std::map<std::int64_t, Gang> gangs_;  ///< by uid; its elements stay where they are
  std::vector<const Gang*> order_;
};

}  // namespace trainyard::placement
