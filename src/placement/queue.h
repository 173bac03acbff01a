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
/// order, so that an arrival does not scan a long queue. Each gang belongs to a line (Gang::line); positions
/// count the gangs of one line only. One thread.
class Queue {
 public:
  Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Adds a gang whose uid is not in the queue.
  void Add(Gang gang);
  /// Removes the gang; nothing if it is not in the queue.
  std::optional<Gang> Take(std::int64_t uid);

  [[nodiscard]] bool empty() const noexcept { return order_.empty(); }
  /// First to last; valid until the queue changes.
  [[nodiscard]] std::span<const Gang* const> InOrder() const noexcept { return order_; }
  /// Null if the gang is not in the queue. Valid until the gang is removed.
  [[nodiscard]] const Gang* Find(std::int64_t uid) const;
  /// Counts from 1 among the gangs of its line. The gang is in the queue.
  [[nodiscard]] std::int64_t PositionOf(const Gang& gang) const;
  /// The wait of a queued gang that has no shortage of its own: it waits for the earlier gangs of its line
  /// or, if it is the first of its line, for `blocker`.
  [[nodiscard]] Wait TurnOf(const Gang& gang, std::string_view blocker) const;

 private:
  using Order = std::vector<const Gang*>;

  std::map<std::int64_t, Gang> gangs_;  ///< by uid; elements keep their addresses
  Order order_;
  std::map<int, Order> lines_;
};

}  // namespace trainyard::placement
