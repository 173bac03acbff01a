// The engine of Slurm with many jobs: what it decides alone, what its database takes, and the whole engine
// between a simulated Slurm and simulated agents. No turn of the server's loop may take longer than 50 ms.
// usage: slurm_simulation_bench [FOLDER [GANGS [NODES]]]    FOLDER: on a disk; what is measured is durable

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/async/diagnostics.h"
#include "base/check.h"
#include "figures.h"
#include "rules/slurm/questions.h"
#include "simulated_slurm.h"
#include "simulation_phases.h"
#include "slurm_parts.h"
#include "sync_floor.h"

namespace trainyard::bench {
namespace {

using slurm::ListedJob;

/// What sbatch takes in a second: 8 to 14 ms each, four at once.
constexpr int kSubmittedInASecond = 300;

class Phases {
 public:
  Phases(const std::filesystem::path& folder, SimulationSizes sizes)
      : sizes_(sizes),
        cluster_(sizes.nodes, clock_),
        phases_(folder, sizes, cluster_, clock_, slurm::kListPause) {}

  void Run();

 private:
  void SubmitAll();
  void ListAll();
  [[nodiscard]] SimulatedCalls Calls() {
    return cluster_.slurm().calls.With([](const SimulatedCalls& calls) { return calls; });
  }

  SimulationSizes sizes_;
  SimulatedClock clock_;
  SlurmSimulation cluster_;
  SimulationPhases phases_;
  SimulatedService& service_ = phases_.service();
};

/// All but those that the engine itself refuses.
void Phases::SubmitAll() {
  const auto begin = SteadyClock::now();
  const std::int64_t all = sizes_.gangs - sizes_.gangs / 100;
  const std::int64_t at_first = Calls().submissions;
  std::int64_t stepped = at_first;
  for (std::int64_t done = at_first; done < all; done = Calls().submissions) {
    service_.RunSome();
    for (; stepped + kSubmittedInASecond <= done; stepped += kSubmittedInASecond)
      service_.Tick(std::chrono::seconds(1));
  }
  service_.Settle();
  const double rate = static_cast<double>(all - at_first) / SecondsSince(begin);
  phases_.Say("submitting", begin);
  Print("submissions per second, durable", rate, "/s");
}

void Phases::ListAll() {
  constexpr int kLists = 10;
  service_.Step(slurm::kListPause);
  std::ignore = service_.TakeTurns();
  const SimulatedCalls before = Calls();
  const auto begin = SteadyClock::now();
  for (int i = 0; i < kLists || Calls().lists == before.lists; ++i) service_.Step(slurm::kListPause);
  const SimulatedCalls after = Calls();
  phases_.Say("lists with nothing new", begin);
  Print("CPU of printing and reading a list, off the loop",
        1e3 * (after.list_seconds - before.list_seconds) / static_cast<double>(after.lists - before.lists),
        "ms");
}

void Phases::Run() {
  phases_.Begin();
  phases_.ReserveAll();
  SubmitAll();
  ListAll();
  phases_.SayMemory(cluster_.slurm().cluster.With([](const SimulatedCluster& cluster) {
    const std::size_t before = HeldBytes();
    const auto copy = std::make_unique<SimulatedCluster>(cluster);
    return HeldBytes() - before;
  }));
  phases_.Live();
  phases_.GoAway();
  const std::int64_t cancels = Calls().cancels;
  const int many = phases_.CancelMany();
  Print("calls of scancel for each", static_cast<double>(Calls().cancels - cancels) / many, "");
  phases_.StartAgain();
  phases_.End();
}

void MeasureFloors(SimulationSizes sizes) {
  SimulatedClock clock;
  SimulatedSlurm slurm(sizes.nodes, clock);
  std::string text = "JOBID|STATE|NODELIST|START_TIME|SUBMIT_TIME|NAME|COMMENT|REASON\n";
  for (int uid = 1; uid <= sizes.gangs; ++uid) {
    text += std::to_string(uid) + "|PENDING||N/A|N/A|" + slurm::JobName(kInstallation, FirstOf(uid).gang) +
            "|" + slurm::Comment(FirstOf(uid)) + "|Priority\n";
  }
  double begin = ThreadSeconds();
  const auto jobs = slurm::ParseJobList(text);
  Print("floor: a list of that many jobs is read", 1e3 * (ThreadSeconds() - begin), "ms");
  begin = ThreadSeconds();
  std::int64_t known = 0;
  for (const ListedJob& job : *jobs) known += slurm::ParseNames(kInstallation, job.name, job.comment) ? 1 : 0;
  Print("floor: whose each of them is", 1e3 * (ThreadSeconds() - begin), "ms");
  TY_CHECK(known == sizes.gangs);
}

int Run(int argc, char** argv) {
  const SimulationSizes sizes = SizesOf(argc, argv);
  SetDiagnosticLevel(DiagnosticLevel::kError);
  const std::filesystem::path folder = FreshFolder(argc, argv, "slurm_simulation_bench.tmp");
  MeasureFloors(sizes);
  MeasureDecisions(sizes.gangs);
  MeasureBook(folder, std::min(sizes.gangs, 5'000));
  Phases(folder, sizes).Run();
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace trainyard::bench

int main(int argc, char** argv) { return trainyard::bench::Run(argc, argv); }
