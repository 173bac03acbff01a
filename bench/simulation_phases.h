#pragma once

#include <chrono>
#include <filesystem>

#include "cluster_simulation.h"
#include "simulated_service.h"
#include "sync_floor.h"

/// What the benchmarks of simulated clusters do with many jobs.
namespace trainyard::bench {

struct SimulationSizes {
  int gangs = 100'000;
  int nodes = 10'000;
};
/// From "[FOLDER [GANGS [NODES]]]".
[[nodiscard]] SimulationSizes SizesOf(int argc, char** argv);

/// One after the other, each prints what it cost: seconds, and the turns of the service's loop.
class SimulationPhases {
 public:
  /// `cluster` and `clock` outlive it. `pause`: how often the engine looks at the cluster.
  SimulationPhases(const std::filesystem::path& folder, SimulationSizes sizes, ClusterSimulation& cluster,
                   SimulatedClock& clock, std::chrono::seconds pause);

  /// A server starts; the cluster is closed.
  void Begin();
  void ReserveAll();
  /// The cluster opens. Gangs begin, run for a minute and end, for 150 seconds.
  void Live();
  /// The cluster does not answer for some pauses, and is back.
  void GoAway();
  /// A tenth of the jobs, of those that wait; how many.
  int CancelMany();
  /// Another server takes all jobs over.
  void StartAgain();
  /// What the process holds, without `own` bytes of the simulation.
  void SayMemory(std::size_t own) const;
  void End() const;

  /// Prints what the loop did since the last call.
  void Say(const char* what, SteadyClock::time_point begin);
  void StepPauses(int count);
  [[nodiscard]] SimulatedService& service() noexcept { return service_; }

 private:
  SimulationSizes sizes_;
  ClusterSimulation& cluster_;
  SimulatedService service_;
  std::chrono::seconds pause_;
  std::size_t held_at_first_ = 0;
  double resident_at_first_ = 0;
  double longest_ms_ = 0;
};

}  // namespace trainyard::bench
