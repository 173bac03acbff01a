#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

/// The recent use of the machine by each project. Pure: one thread at a time.
namespace trainyard::placement {

/// After this time a second of use counts for half. A day, because people compare a day's work; it is also
/// the shortest value that Slurm's operators use (PriorityDecayHalfLife).
inline constexpr std::chrono::hours kUseHalfLife{24};

/// Resources that are allocated at a time.
struct Holding {
  double accelerators = 0;  ///< GPUs and TPU boards
  double cpus = 0;
  friend bool operator==(const Holding&, const Holding&) = default;
};

/// Seconds of use, decayed to a point in time.
struct ProjectUse {
  double accelerator_seconds = 0;
  double cpu_seconds = 0;
  std::optional<SysTime> last_admitted;  ///< when one of its gangs last got resources; nullopt: not known
  friend bool operator==(const ProjectUse&, const ProjectUse&) = default;
};

/// The use by an allocation from `from` to `to`, decayed to `now`.
[[nodiscard]] ProjectUse PastUse(const Holding& holding, SysTime from, SysTime to, SysTime now);

/// The use of each project: its allocations count second by second, and each second decays from then on. A
/// gang is charged in advance for kAssumedRun, and the unused part is refunded at its end. So projects of
/// equal use are admitted in turn, although the latest admissions have not used anything yet.
class ProjectUses {
 public:
  /// The time that a gang is assumed to run.
  static constexpr std::chrono::minutes kAssumedRun{30};
  /// The minimum share of a gang, so that gangs without demand take turns as well.
  static constexpr double kShareMin = 1e-3;

  /// `machine`: all resources of the machine.
  explicit ProjectUses(Holding machine = {.accelerators = 0, .cpus = 1});

  /// Sets the use that a previous server recorded at `time`. Call it before the first Start.
  void Restore(const std::string& project, const ProjectUse& use, SysTime time);

  /// A gang has an allocation since `since`, which is not counted yet except in Restore. It replaces an
  /// earlier allocation of the gang.
  void Start(std::int64_t uid, const std::string& project, const Holding& holding, SysTime since);
  /// Ends the gang's allocation; no effect for a uid that is not running.
  void Stop(std::int64_t uid, SysTime now);

  /// Whether nothing is allocated.
  [[nodiscard]] bool is_idle() const noexcept { return projects_.empty(); }
  [[nodiscard]] ProjectUse Of(const std::string& project, SysTime now) const;
  /// All projects with a noticeable use, or with an allocation.
  [[nodiscard]] std::map<std::string, ProjectUse> All(SysTime now) const;

  /// The score for ordering projects: seconds of the whole machine, by the resource of which the project used
  /// the larger part (dominant resource fairness: Ghodsi et al., 2011), including charges in advance.
  [[nodiscard]] double ScoreOf(const std::string& project, SysTime now) const;
  /// The allocated part of the machine: of accelerators or CPUs, whichever is larger, at least kShareMin.
  [[nodiscard]] double ShareOf(const Holding& holding) const;
  /// The charge in advance for a waiting gang of that share.
  [[nodiscard]] static double ChargeOf(double share);

  /// The use of two projects, as parts of the use of all projects.
  struct Comparison {
    std::string_view resource;  ///< "GPU time", "CPU time" or, if they used different ones, "machine's time"
    double first = 0;           ///< 0 to 1
    double second = 0;
  };
  [[nodiscard]] Comparison Compare(const std::string& first, const std::string& second, SysTime now) const;
  /// The project's part of the use of all projects, 0 to 1.
  [[nodiscard]] double PartOf(const std::string& project, SysTime now) const;

 private:
  struct Run {
    Holding holding;
    SysTime since;
  };
  struct Account {
    ProjectUse use;  ///< as of `time`
    SysTime time;
    Holding rate;  ///< of all runs
    std::map<std::int64_t, Run> runs{};
  };
  [[nodiscard]] static ProjectUse At(const Account& account, SysTime now);
  [[nodiscard]] double MachineSeconds(const ProjectUse& use) const;
  void Prune(SysTime now);

  Holding machine_;
  std::map<std::string, Account> accounts_;
  std::size_t accounts_max_ = 0;                  ///< beyond this number, remove negligible ones
  std::optional<SysTime> restored_;               ///< the time up to which Restore has counted running gangs
  std::map<std::int64_t, std::string> projects_;  ///< projects of the running gangs, by uid
};

/// The weight of a project in the queue: a larger one is served more often (queue.h). Default: 1.
using ProjectWeights = std::map<std::string, double>;

inline constexpr double kProjectWeightMin = 0.001;
inline constexpr double kProjectWeightMax = 1'000;

/// Each text is PROJECT=WEIGHT: "research=2". kInvalidArgument, field "--project-weight". Pure: any thread.
[[nodiscard]] Result<ProjectWeights> ParseProjectWeights(std::span<const std::string> texts);

}  // namespace trainyard::placement
