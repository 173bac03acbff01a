#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "rules/kubernetes/object_name.h"

namespace trainyard::kubernetes {

/// The most gangs of a single pod in a line that have no node yet. A pod alone holds nothing while it waits,
/// so these need no turn; further ones wait here, and the scheduler is not burdened with them.
inline constexpr int kUnplacedMax = 100;

/// Which gangs may create their pods now: in each line one gang of several pods, and as many as kUnplacedMax
/// single ones. The order is by priority, and then by how long they have waited: one that had its turn in
/// vain is the last one. A value; one thread.
class PlacingTurns {
 public:
  struct Place {
    std::string line{};  ///< gangs of one line take turns
    int priority = 0;    ///< higher ones come first
    SysTime since{};     ///< how long it waits; stays the same until it leaves
    bool is_single = false;
  };
  void Wait(const GangKey& key, const Place& place);
  /// It gives up its turn, or its place among those that wait. Does nothing if it has neither.
  void Leave(const GangKey& key, const Place& place);
  /// It has the turn.
  void Take(const GangKey& key, const Place& place);
  /// Gangs that wait and may have their turn now, at most `count` single ones among them.
  [[nodiscard]] std::vector<GangKey> Next(int count) const;
  /// Whether single gangs of the line wait because kUnplacedMax others have no node.
  [[nodiscard]] bool IsCrowded(const std::string& line) const;

 private:
  struct Order {
    int falling_priority = 0;
    SysTime since;
    GangKey key;
    friend auto operator<=>(const Order&, const Order&) = default;
  };
  struct Line {
    std::set<Order> waiting{};
    std::optional<GangKey> turn{};
    std::set<Order> singles{};
    std::set<GangKey> unplaced{};  ///< single ones that have their turn
  };
  static Order OrderOf(const GangKey& key, const Place& place) { return {-place.priority, place.since, key}; }

  std::map<std::string, Line> lines_;  ///< none is empty
};

}  // namespace trainyard::kubernetes
