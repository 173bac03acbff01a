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

/// A project whose gangs got no room for this long although it has some waiting goes first: no stream of
/// others, however little they used, keeps it from its next gang.
inline constexpr std::chrono::days kPatience{7};

/// Where a project stands beside others.
struct Standing {
  double score = 0;                      ///< ProjectUses::ScoreOf
  double weight = 1;                     ///< above 0: the score counts divided by it
  std::optional<SysTime> last_admitted;  ///< ProjectUse
  friend bool operator==(const Standing&, const Standing&) = default;
};

/// The gangs that wait, in the order of admission. Within a project: by priority (high first), then age, then
/// uid. Between projects: whose weighted score is least goes first; each gang counts in advance
/// (ProjectUses::ChargeOf), so that equal projects alternate; equal scores go by age. Projects that wait for
/// longer than kPatience go before, whoever waits longest first. With one project it is that project's order.
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
  /// Removes the gang; nothing if it is not in the queue.
  std::optional<Gang> Take(std::int64_t uid);
  /// Where the projects stand from now on. Those that are not named: nowhere yet.
  void SetStandings(const std::map<std::string, Standing>& standings, SysTime now);

  [[nodiscard]] bool empty() const noexcept { return gangs_.empty(); }
  [[nodiscard]] std::size_t project_count() const noexcept { return projects_.size(); }
  /// Names of the projects that wait.
  [[nodiscard]] std::vector<std::string> Projects() const;
  /// The gangs one after the other, first to last; valid until the queue changes. A gang costs the logarithm
  /// of the number of projects.
  [[nodiscard]] NextGang Walk() const;
  /// First to last.
  [[nodiscard]] std::vector<const Gang*> InOrder() const;
  /// Null if the gang is not in the queue. Valid until the gang is removed.
  [[nodiscard]] const Gang* Find(std::int64_t uid) const;
  /// Counts from 1 among the gangs of its line. The gang is in the queue.
  [[nodiscard]] std::int64_t PositionOf(const Gang& gang) const;
  /// The first of the gang's line.
  [[nodiscard]] const Gang& FirstOf(const Gang& gang) const;
  /// The wait of a queued gang that has no shortage of its own: it waits for the earlier gangs of its line
  /// or, if it is the first of its line, for `blocker`.
  [[nodiscard]] Wait TurnOf(const Gang& gang, std::string_view blocker, const Naming& naming = {}) const;
  /// The wait of a gang at that position which waits for `blocker` alone.
  [[nodiscard]] static Wait TurnAfter(std::string_view blocker, std::int64_t position);
  /// Whether the project goes first because it has waited for kPatience.
  [[nodiscard]] bool IsOverdue(const std::string& project) const;

 private:
  using Order = std::vector<const Gang*>;
  struct Project {
    Order order;
    std::map<int, Order> lines;
    SysTime since;  ///< of the oldest that came since the project began to wait
    Standing standing;
    bool overdue = false;
    /// What the gangs before each one count in advance; made when it is needed.
    mutable std::vector<double> before{};
  };
  /// What orders gangs of different projects.
  using Key = std::tuple<int, double, SysTime, std::int64_t>;
  class Merge;

  [[nodiscard]] static Key KeyOf(const Project& project, std::size_t index, double before);
  [[nodiscard]] static const std::vector<double>& Before(const Project& project);
  [[nodiscard]] static std::size_t CountBefore(const Project& project, int line, const Key& key);

  std::map<std::int64_t, Gang> gangs_;  ///< by uid; elements keep their addresses
  std::map<std::string, Project> projects_;
};

}  // namespace trainyard::placement
