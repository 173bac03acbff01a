// The engine of Kubernetes with many jobs, between a simulated API server and simulated agents. No turn of
// the server's loop may take longer than 50 ms. usage: kubernetes_simulation_bench [FOLDER [GANGS [NODES]]]
// FOLDER: on a disk; what is measured is durable

#include <filesystem>

#include "base/async/diagnostics.h"
#include "figures.h"
#include "simulated_kubernetes.h"
#include "simulation_phases.h"

namespace trainyard::bench {
namespace {

constexpr std::chrono::seconds kPause{10};

/// The cluster has no room: 100 single pods wait, and gangs take their turns.
void Wait(SimulationPhases& phases, const KubernetesSimulation::Shared& shared) {
  constexpr int kPauses = 40;  // each single pod makes way once
  const std::int64_t pods = shared.pods_created;
  const std::int64_t lists = shared.lists;
  const auto begin = SteadyClock::now();
  phases.StepPauses(kPauses);
  phases.Say("all wait, for 400 s", begin);
  const double minutes = kPauses * std::chrono::duration<double, std::ratio<60>>(kPause).count();
  Print("pods that are created in a minute", static_cast<double>(shared.pods_created - pods) / minutes, "");
  Print("lists in a minute", static_cast<double>(shared.lists - lists) / minutes, "");
}

int Run(int argc, char** argv) {
  const SimulationSizes sizes = SizesOf(argc, argv);
  SetDiagnosticLevel(DiagnosticLevel::kError);
  const std::filesystem::path folder = FreshFolder(argc, argv, "kubernetes_simulation_bench.tmp");
  {
    SimulatedClock clock;
    KubernetesSimulation cluster(sizes.nodes, clock);
    SimulationPhases phases(folder, sizes, cluster, clock, kPause);
    phases.Begin();
    phases.ReserveAll();
    Wait(phases, cluster.shared());
    phases.SayMemory(0);  // of the simulation, 100 pods are all that there is
    phases.Live();
    phases.GoAway();
    const std::int64_t deleted = cluster.shared().secrets_deleted;
    const int cancelled = phases.CancelMany();
    Print("deleted Secrets for each",
          static_cast<double>(cluster.shared().secrets_deleted - deleted) / cancelled, "");
    phases.StartAgain();
    phases.End();
  }
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace trainyard::bench

int main(int argc, char** argv) { return trainyard::bench::Run(argc, argv); }
