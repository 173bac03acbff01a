#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// What a simulation does, as a value: it can be printed, cut down and repeated. Pure.
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
  const char* name;   ///< in the words of docs/lifecycle.md and docs/reliability.md
  int weight;         ///< how often it is drawn, compared with the others
  bool is_fault;      ///< the promises of docs/reliability.md say what holds although it happens
  bool needs_server;  ///< if no server runs, one is started first
  void (*perform)(Simulation& simulation, ActionRandom& random, int number);  ///< may find nothing to do
};

/// All of them, in a fixed order.
[[nodiscard]] std::span<const Action> Actions();

struct PlannedAction {
  int number = 0;  ///< its place in the whole schedule
  const Action* action = nullptr;
  int steps = 0;           ///< of the world before it
  std::uint64_t seed = 0;  ///< of its own random numbers
};

struct Schedule {
  std::uint64_t seed = 0;  ///< also chooses the world
  std::vector<PlannedAction> actions{};
};

/// Equal seeds give equal schedules. `count`: how many actions.
[[nodiscard]] Schedule MakeSchedule(std::uint64_t seed, int count);

}  // namespace trainyard::control
