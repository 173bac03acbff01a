#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

/// What projects used of the machine lately. Pure: one thread at a time.
namespace trainyard::placement {

/// After this long a second of use counts for half. As a day's work is what people compare; the same as the
/// shortest that operators of Slurm set (PriorityDecayHalfLife).
inline constexpr std::chrono::hours kUseHalfLife{24};

/// What is held at a time.
struct Holding {
  double accelerators = 0;  ///< GPUs and TPU boards
  double cpus = 0;
  friend bool operator==(const Holding&, const Holding&) = default;
};

/// Seconds of use, decayed to a point in time.
struct ProjectUse {
  double accelerator_seconds = 0;
  double cpu_seconds = 0;
  std::optional<SysTime> last_admitted;  ///< a gang of it got room; nothing: none that is known
  friend bool operator==(const ProjectUse&, const ProjectUse&) = default;
};

/// What holding that from `from` to `to` is worth at `now`.
[[nodiscard]] ProjectUse PastUse(const Holding& holding, SysTime from, SysTime to, SysTime now);

/// The use of each project: what it holds counts second by second, and decays from then on. What a gang holds
/// is charged at once for kAssumedRun, and what it did not use of that is given back at its end: projects of
/// equal use get the next places in turn, although nothing of what was given a moment ago has been used yet.
class ProjectUses {
 public:
  /// What a gang is assumed to run for.
  static constexpr std::chrono::minutes kAssumedRun{30};
  /// What a gang takes at least of the machine, so that gangs of nothing take turns as well.
  static constexpr double kShareMin = 1e-3;

  /// `machine`: all that there is to hold.
  explicit ProjectUses(Holding machine = {.accelerators = 0, .cpus = 1});

  /// What a previous server knew, as of `time`. Before the first Start.
  void Restore(const std::string& project, const ProjectUse& use, SysTime time);

  /// A gang holds room since `since`, not counted yet but for what Restore brought. What it held before ends.
  void Start(std::int64_t uid, const std::string& project, const Holding& holding, SysTime since);
  /// Nothing for a uid that is not running.
  void Stop(std::int64_t uid, SysTime now);

  /// Nobody holds anything.
  [[nodiscard]] bool is_idle() const noexcept { return projects_.empty(); }
  [[nodiscard]] ProjectUse Of(const std::string& project, SysTime now) const;
  /// All projects that used something worth mentioning, or hold something.
  [[nodiscard]] std::map<std::string, ProjectUse> All(SysTime now) const;

  /// What orders projects: seconds of the whole machine, by the resource of which the project used the larger
  /// part (dominant resource fairness: Ghodsi et al., 2011), with what is charged in advance.
  [[nodiscard]] double ScoreOf(const std::string& project, SysTime now) const;
  /// The part of the machine that is held: of accelerators or CPUs, whichever is larger, at least kShareMin.
  [[nodiscard]] double ShareOf(const Holding& holding) const;
  /// What a waiting gang of that share counts in advance.
  [[nodiscard]] static double ChargeOf(double share);

  /// Two projects beside each other, as parts of what all projects used.
  struct Comparison {
    std::string_view
        resource;      ///< "GPU time", "CPU time" or, where they used different ones, "machine's time"
    double first = 0;  ///< 0 to 1
    double second = 0;
  };
  [[nodiscard]] Comparison Compare(const std::string& first, const std::string& second, SysTime now) const;
  /// The project's part of what all projects used, 0 to 1.
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
  std::size_t accounts_max_ = 0;                  ///< look for forgotten ones beyond that many
  std::optional<SysTime> restored_;               ///< up to when Restore has counted what runs
  std::map<std::int64_t, std::string> projects_;  ///< of what runs
};

}  // namespace trainyard::placement
