#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "rules/placement/plan.h"

namespace trainyard::placement {

/// A project with waiting gangs that was not served for this long goes first, so that a stream of gangs of
/// other projects cannot delay it forever.
inline constexpr std::chrono::days kPatience{7};

/// The standing of a project compared to others.
struct Standing {
  double score = 0;                      ///< ProjectUses::ScoreOf
  double weight = 1;                     ///< above 0; the score is divided by it
  std::optional<SysTime> last_admitted;  ///< ProjectUse
  friend bool operator==(const Standing&, const Standing&) = default;
};

/// The waiting gangs, in the order of admission. Within a project: by priority (high first), then age, then
/// uid. Between projects: the least weighted score goes first; each gang is charged in advance
/// (ProjectUses::ChargeOf), so that equal projects alternate; equal scores are ordered by age. Projects that
/// have waited longer than kPatience go before all others, the longest wait first. With one project it is
/// that project's order.
///
/// Keeps the order, so that an arrival does not scan a long queue. Each gang belongs to a line (Gang::line);
/// positions count the gangs of one line only. One thread.
class Queue {
 public:
  Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Adds a gang whose uid is not in the queue.
  void Add(Gang gang);
  /// Removes and returns the gang; nullopt if it is not in the queue.
  std::optional<Gang> Take(std::int64_t uid);
  /// Sets the projects' standings. Projects that are not in the map get the default.
  void SetStandings(const std::map<std::string, Standing>& standings, SysTime now);

  [[nodiscard]] bool empty() const noexcept { return gangs_.empty(); }
  [[nodiscard]] std::size_t project_count() const noexcept { return projects_.size(); }
  /// Names of the projects with waiting gangs.
  [[nodiscard]] std::vector<std::string> Projects() const;
  /// Iterates over the gangs, first to last; valid until the queue changes. Each step takes O(log projects).
  [[nodiscard]] NextGang Walk() const;
  /// All gangs, first to last.
  [[nodiscard]] std::vector<const Gang*> InOrder() const;
  /// Null if the gang is not in the queue. Valid until the gang is removed.
  [[nodiscard]] const Gang* Find(std::int64_t uid) const;
  /// The gang's position in its line, from 1. The gang must be in the queue.
  [[nodiscard]] std::int64_t PositionOf(const Gang& gang) const;
  /// The first gang in the gang's line.
  [[nodiscard]] const Gang& FirstOf(const Gang& gang) const;
  /// The wait of a queued gang that has no shortage of its own: it waits for the earlier gangs of its line
  /// or, if it is the first of its line, for `blocker`.
  [[nodiscard]] Wait TurnOf(const Gang& gang, std::string_view blocker, const Naming& naming = {}) const;
  /// The wait of a gang at that position which waits only for `blocker`.
  [[nodiscard]] static Wait TurnAfter(std::string_view blocker, std::int64_t position);
  /// Whether the project goes first because it has waited for kPatience.
  [[nodiscard]] bool IsOverdue(const std::string& project) const;

 private:
  using Order = std::vector<const Gang*>;
  struct Project {
    Order order;
    std::map<int, Order> lines;
    SysTime since;  ///< arrival of the oldest gang since the project began to wait
    Standing standing;
    bool overdue = false;
    /// The charges in advance of the gangs before each one; computed when needed.
    mutable std::vector<double> before{};
  };
  /// The order of gangs of different projects.
  using Key = std::tuple<int, double, SysTime, std::int64_t>;
  class Merge;

  [[nodiscard]] static Key KeyOf(const Project& project, std::size_t index, double before);
  [[nodiscard]] static const std::vector<double>& Before(const Project& project);
  [[nodiscard]] static std::size_t CountBefore(const Project& project, int line, const Key& key);

  std::map<std::int64_t, Gang> gangs_;  ///< by uid; elements keep their addresses
  std::map<std::string, Project> projects_;
};

}  // namespace trainyard::placement
