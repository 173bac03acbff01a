// The engine of Slurm with many jobs: what it decides alone, what its database takes, and the whole engine
// between a simulated Slurm and simulated agents. No turn of the server's loop may take longer than 50 ms.
// usage: slurm_simulation_bench [FOLDER [GANGS [NODES]]]    FOLDER: on a disk; what is measured is durable

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/async/diagnostics.h"
#include "base/check.h"
#include "figures.h"
#include "simulated_service.h"
#include "slurm_parts.h"
#include "sync_floor.h"

namespace trainyard::bench {
namespace {

using slurm::ListedJob;

/// What sbatch takes in a second: 8 to 14 ms each, four at once.
constexpr int kSubmittedInASecond = 300;

struct Sizes {
  int gangs = 100'000;
  int nodes = 10'000;
};

class Phases {
 public:
  Phases(const std::filesystem::path& folder, Sizes sizes)
      : sizes_(sizes), service_(folder / "engines.db", sizes.nodes) {}

  void Run();

 private:
  void Say(const char* what, SteadyClock::time_point begin);
  void ReserveAll();
  void SubmitAll();
  void ListAll();
  void Live();
  void GoAway();
  void CancelMany();
  void StartAgain();
  [[nodiscard]] SimulatedCalls Calls() {
    return service_.slurm().calls.With([](const SimulatedCalls& calls) { return calls; });
  }
  void SetClosed(bool closed) {
    service_.slurm().cluster.With([closed](SimulatedCluster& cluster) { cluster.SetClosed(closed); });
  }

  Sizes sizes_;
  SimulatedService service_;
  double longest_ms_ = 0;
};

void Phases::Say(const char* what, SteadyClock::time_point begin) {
  std::vector<double> turns_ms = service_.TakeTurns();
  double all_ms = 0;
  for (const double turn : turns_ms) all_ms += turn;
  const double longest = Quantile(turns_ms, 1);
  longest_ms_ = std::max(longest_ms_, longest);
  std::printf("%-44s %6.1f s; the loop %6.0f ms in %7zu turns: p50 %.3f, p99 %.2f, max %5.1f ms\n", what,
              SecondsSince(begin), all_ms, turns_ms.size(), Quantile(turns_ms, 0.5), Quantile(turns_ms, 0.99),
              longest);
  std::fflush(stdout);
}

void Phases::ReserveAll() {
  const std::size_t before = HeldBytes();
  const auto begin = SteadyClock::now();
  double spent = 0;
  double longest = 0;
  for (int uid = 1; uid <= sizes_.gangs; ++uid) {
    const double start = ThreadSeconds();
    service_.Reserve(uid);
    const double one = ThreadSeconds() - start;
    spent += one;
    longest = std::max(longest, one);
    if (uid % 50 == 0) service_.RunReady();
  }
  longest_ms_ = 1e3 * longest;
  Say("reserving", begin);
  Print("reservations per second of CPU, each asked what it waits for", sizes_.gangs / spent, "/s");
  Print("the longest of them", 1e3 * longest, "ms");
  Print("memory of a reservation", static_cast<double>(HeldBytes() - before) / sizes_.gangs, "bytes");
}

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
  Say("submitting", begin);
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
  Say("lists with nothing new", begin);
  Print("CPU of printing and reading a list, off the loop",
        1e3 * (after.list_seconds - before.list_seconds) / static_cast<double>(after.lists - before.lists),
        "ms");
}

void Phases::Live() {
  constexpr std::chrono::seconds kRunTime{60};
  constexpr int kSeconds = 150;
  service_.SetRunTime(kRunTime);
  SetClosed(false);
  const auto begin = SteadyClock::now();
  for (int i = 0; i < kSeconds; ++i) service_.Step(std::chrono::seconds(1));
  const double seconds = SecondsSince(begin);
  Say("gangs begin and end", begin);
  Print("gangs that had room", static_cast<double>(service_.grants()), "");
  Print("gangs that had room, per second", static_cast<double>(service_.grants()) / seconds, "/s");
  if (service_.grants() == 0 || service_.revocations() > 0) std::abort();
}

void Phases::GoAway() {
  const auto set = [this](bool away) {
    service_.slurm().away.With([away](bool& is_away) { is_away = away; });
  };
  auto begin = SteadyClock::now();
  set(true);
  for (int i = 0; i < 12; ++i) service_.Step(slurm::kListPause);
  Say("the controller is away", begin);
  begin = SteadyClock::now();
  set(false);
  for (int i = 0; i < 6; ++i) service_.Step(slurm::kListPause);
  Say("and is back", begin);
}

void Phases::CancelMany() {
  const int many = sizes_.gangs / 10;
  const std::int64_t before = Calls().cancels;
  const auto begin = SteadyClock::now();
  const std::vector<std::int64_t> wanted(service_.wanted().rbegin(), service_.wanted().rend());
  int cancelled = 0;
  for (const std::int64_t uid : wanted) {
    if (service_.has_room(uid) || cancelled == many) continue;
    service_.Release(uid);
    if (++cancelled % 50 == 0) service_.RunReady();
  }
  service_.Settle();
  for (int i = 0; i < 6; ++i) service_.Step(slurm::kListPause);
  Say("cancelled: a tenth, at once", begin);
  Print("calls of scancel for each", static_cast<double>(Calls().cancels - before) / many, "");
}

void Phases::StartAgain() {
  service_.Settle();
  auto begin = SteadyClock::now();
  service_.Open();
  Print("the next server: the database is read", 1e3 * SecondsSince(begin), "ms");
  begin = SteadyClock::now();
  int asked = 0;
  for (const std::int64_t uid : std::set<std::int64_t>(service_.wanted())) {
    service_.Reserve(uid);
    if (++asked % 50 == 0) service_.RunReady();
  }
  service_.Start();
  for (int i = 0; i < 6; ++i) service_.Step(slurm::kListPause);
  Say("the next server: all ask again, first lists", begin);
}

void Phases::Run() {
  const std::size_t held = HeldBytes();
  const double resident = ResidentMib();
  service_.Open();
  service_.Start();
  SetClosed(true);
  ReserveAll();
  SubmitAll();
  ListAll();
  const std::size_t own = service_.slurm().cluster.With([](const SimulatedCluster& cluster) {
    const std::size_t before = HeldBytes();
    const auto copy = std::make_unique<SimulatedCluster>(cluster);
    return HeldBytes() - before;
  });
  Print("memory of a queued job, the simulated Slurm left out",
        static_cast<double>(HeldBytes() - held - own) / sizes_.gangs, "bytes");
  Print("resident more than at first, the simulated Slurm left out",
        ResidentMib() - resident - static_cast<double>(own) / (1 << 20), "MiB");
  Live();
  GoAway();
  CancelMany();
  StartAgain();
  Print("resident in all", ResidentMib(), "MiB");
  Print("the longest turn of the loop", longest_ms_, "ms");
}

void MeasureFloors(Sizes sizes) {
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
  Sizes sizes;
  if (argc > 2) sizes.gangs = std::max(100, std::atoi(argv[2]));
  if (argc > 3) sizes.nodes = std::max(100, std::atoi(argv[3]));
  SetDiagnosticLevel(DiagnosticLevel::kError);
  const std::filesystem::path folder = FreshFolder(argc, argv, "slurm_simulation_bench.tmp");
  std::printf("%d gangs, %d nodes\n", sizes.gangs, sizes.nodes);
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
