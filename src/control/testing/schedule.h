#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rules/jobs/transition_table.h"

/// The list of all actions of one simulation. It is a value, so it can be printed, shortened and repeated.
/// Pure.
namespace trainyard::control {

class Simulation;

/// The random numbers of one action. They depend on its seed alone, so an action does the same whether or not
/// others are left out.
class ActionRandom {
 public:
  explicit ActionRandom(std::uint64_t seed) : state_(seed) {}
  [[nodiscard]] std::uint64_t Next();
  /// A number from 0 to `bound` - 1.
  [[nodiscard]] std::size_t Below(std::size_t bound) { return static_cast<std::size_t>(Next() % bound); }
  /// One of the names; empty if there is none. It stays the same when other names are added or removed.
  [[nodiscard]] std::string Pick(const std::vector<std::string>& names);

 private:
  std::uint64_t state_;
};

/// One kind of thing that clients, operators, programs or the machine do.
struct Action {
  /// A fault is what the promises of docs/reliability.md speak of. A lasting one goes on until a repair.
  enum class Kind { kOrdinary, kFault, kLastingFault, kRepair };
  const char* name;  ///< in the words of docs/lifecycle.md and docs/reliability.md
  int weight;        ///< how often it is drawn, compared with the others; 0: never by itself
  Kind kind;
  bool needs_server;  ///< if no server runs, one is started first
  /// Returns false if it found nothing to do, or nothing that has happened yet.
  bool (*perform)(Simulation& simulation, ActionRandom& random, int number);
  const char* repairs = "";  ///< of a kRepair: the name of the lasting fault that is over after it
  bool needs_slurm = false;  ///< it happens only in worlds with Slurm
};

/// The resources that the server gives to its jobs.
enum class WorldKind {
  kMachine,  ///< its own machine's slots
  kCluster,  ///< nodes of the tests' own engine
  kSlurm,    ///< nodes of a simulated Slurm, through the real engine and the real agents' sessions
};
[[nodiscard]] WorldKind WorldOf(std::uint64_t seed);

/// All of them, in a fixed order.
[[nodiscard]] std::span<const Action> Actions();
/// The action of that name, which is one of them.
[[nodiscard]] const Action& FindAction(std::string_view name);
/// The faults among them, in their order.
[[nodiscard]] const std::vector<const Action*>& Faults();

struct PlannedAction {
  int number = 0;  ///< its place in the whole schedule
  const Action* action = nullptr;
  int steps = 0;           ///< of the world before it
  std::uint64_t seed = 0;  ///< of its own random numbers
  /// It waits until a job is in this stage, but not for ever. Some stages last for a few steps only.
  std::optional<jobs::Stage> at{};
};

struct Schedule {
  std::uint64_t seed = 0;  ///< also chooses the world
  std::vector<PlannedAction> actions{};
};

/// How many actions a schedule of the tests has, and one of the long form.
inline constexpr int kShortSchedule = 15;
inline constexpr int kLongSchedule = 40;

/// Equal seeds give equal schedules, of which the shorter one is the beginning of the longer one.
[[nodiscard]] Schedule MakeSchedule(std::uint64_t seed, int count);

/// The actions by their numbers, each with ":STEPS" if it has other steps before it than in the whole
/// schedule: "3,9:2,12".
[[nodiscard]] std::string PrintSelection(const Schedule& whole, const Schedule& selected);
/// Only those actions of the schedule. Numbers that it does not have are left out.
[[nodiscard]] Schedule Select(const Schedule& whole, std::string_view selection);

}  // namespace trainyard::control
