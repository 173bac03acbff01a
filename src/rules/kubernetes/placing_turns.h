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

/// The most gangs in a line that need no turn and have no node yet. Further ones wait here, and the scheduler
/// is not burdened with them.
inline constexpr int kUnplacedMax = 100;

/// Decides which gangs may create their pods now: in each line one that needs a turn, and up to kUnplacedMax
/// that need none. They are sorted by priority, and then by the time of their waiting; a gang that gave its
/// turn away is the last one. A value; one thread.
class PlacingTurns {
 public:
  struct Place {
    std::string line{};  ///< gangs of one line take turns
    int priority = 0;    ///< higher ones come first
    SysTime since{};     ///< how long it waits; stays the same until it leaves
    /// Its pods may get nodes one by one: it holds these while it waits for more. A single pod, and a gang
    /// that the cluster places as a whole, holds nothing while it waits.
    bool needs_turn = true;
  };
  void Wait(const GangKey& key, const Place& place);
  /// It gives up its turn, or its place among those that wait. Does nothing if it has neither.
  void Leave(const GangKey& key, const Place& place);
  /// It has the turn.
  void Take(const GangKey& key, const Place& place);
  /// Gangs that wait and may create their pods now, at most `count` among them that need no turn.
  [[nodiscard]] std::vector<GangKey> Next(int count) const;
  /// Whether gangs of the line that need no turn wait because kUnplacedMax others have no node.
  [[nodiscard]] bool IsCrowded(const std::string& line) const;

 private:
  struct Order {
    int falling_priority = 0;
    SysTime since;
    GangKey key;
    friend auto operator<=>(const Order&, const Order&) = default;
  };
  struct Line {
    std::set<Order> waiting{};  ///< for the turn
    std::optional<GangKey> turn{};
    std::set<Order> others{};      ///< they need no turn, and wait until fewer of these have no node
    std::set<GangKey> unplaced{};  ///< they need no turn, and have no node yet
  };
  static Order OrderOf(const GangKey& key, const Place& place) { return {-place.priority, place.since, key}; }

  std::map<std::string, Line> lines_;  ///< none is empty
};

}  // namespace trainyard::kubernetes
