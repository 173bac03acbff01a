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
/// order, so that an arrival does not look at all of a long queue. Gangs stand in lines (Gang::line): what
/// they are told about their place counts those of the same line only. One thread.
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
  /// Null for one that is not in the queue. Valid until it is taken.
  [[nodiscard]] const Gang* Find(std::int64_t uid) const;
  /// From 1; among the gangs of its line. It is in the queue.
  [[nodiscard]] std::int64_t PositionOf(const Gang& gang) const;
  /// The wait of a gang in the queue that has no shortage of its own: it waits for those before it in its
  /// line or, as the first of its line, for `blocker`.
  [[nodiscard]] Wait TurnOf(const Gang& gang, std::string_view blocker) const;

 private:
  using Order = std::vector<const Gang*>;

  std::map<std::int64_t, Gang> gangs_;  ///< by uid; its elements stay where they are
  Order order_;
  std::map<int, Order> lines_;
};

}  // namespace trainyard::placement
