#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/clock.h"
#include "rules/placement/plan.h"
#include "rules/placement/project_use.h"
#include "rules/placement/queue.h"

namespace trainyard::engine {

/// How projects share the resources of this machine: their recent use, their order in the queue, and what a
/// waiting job is told about it. The rules are in placement. Loop thread only.
class ProjectShares {
 public:
  struct Options {
    placement::ProjectWeights weights{};
    placement::Naming naming{};    ///< in reasons
    const Clock* clock = nullptr;  ///< outlives this; null: time stands still, and no use counts
  };
  using Uses = std::map<std::string, placement::ProjectUse>;

  /// `machine`: all resources of the machine.
  ProjectShares(Options options, placement::Holding machine) : options_(std::move(options)), uses_(machine) {}

  [[nodiscard]] bool has_clock() const noexcept { return options_.clock != nullptr; }
  [[nodiscard]] SysTime Now() const { return has_clock() ? options_.clock->Now() : SysTime{}; }
  [[nodiscard]] const placement::Naming& naming() const noexcept { return options_.naming; }
  [[nodiscard]] double WeightOf(const std::string& project) const;

  /// Restores what a previous server knew. Call it before the first Start.
  void Restore(const Uses& uses, SysTime as_of);
  [[nodiscard]] bool is_idle() const noexcept { return uses_.is_idle(); }
  /// The recent use of all projects, now.
  [[nodiscard]] Uses Use() const { return uses_.All(Now()); }
  /// As in ProjectUses.
  [[nodiscard]] double PartOf(const std::string& project) const { return uses_.PartOf(project, Now()); }
  [[nodiscard]] double ShareOf(const placement::Holding& holding) const { return uses_.ShareOf(holding); }
  /// Sets a function that is called when a job has returned its resources, so that its use can be stored. One
  /// observer; may be null.
  void OnUse(std::function<void()> observer) { on_use_ = std::move(observer); }

  /// Counts the gang's use from its start time on.
  void Start(const placement::Gang& gang, const placement::Holding& holding);
  void Stop(std::int64_t uid);

  /// Orders the queue by the current use.
  void Rank(placement::Queue& queue) const;
  /// If a gang of another project is ahead, adds to the gang's wait what both projects used.
  void Explain(const placement::Gang& gang, const std::string& before, const placement::Queue& queue,
               placement::Wait& wait) const;

 private:
  Options options_;
  placement::ProjectUses uses_;
  std::function<void()> on_use_;
};

}  // namespace trainyard::engine
