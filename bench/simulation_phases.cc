#include "simulation_phases.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <vector>

#include "figures.h"

namespace trainyard::bench {

SimulationSizes SizesOf(int argc, char** argv) {
  SimulationSizes sizes;
  if (argc > 2) sizes.gangs = std::max(100, std::atoi(argv[2]));
  if (argc > 3) sizes.nodes = std::max(100, std::atoi(argv[3]));
  std::printf("%d gangs, %d nodes\n", sizes.gangs, sizes.nodes);
  return sizes;
}

SimulationPhases::SimulationPhases(const std::filesystem::path& folder, SimulationSizes sizes,
                                   ClusterSimulation& cluster, SimulatedClock& clock,
                                   std::chrono::seconds pause)
    : sizes_(sizes), cluster_(cluster), service_(folder / "engines.db", cluster, clock), pause_(pause) {}

void SimulationPhases::Begin() {
  held_at_first_ = HeldBytes();
  resident_at_first_ = ResidentMib();
  service_.Open();
  service_.Start();
  cluster_.SetClosed(true);
}

void SimulationPhases::Say(const char* what, SteadyClock::time_point begin) {
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

void SimulationPhases::ReserveAll() {
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

void SimulationPhases::Live() {
  constexpr std::chrono::seconds kRunTime{60};
  constexpr int kSeconds = 150;
  service_.SetRunTime(kRunTime);
  cluster_.SetClosed(false);
  const auto begin = SteadyClock::now();
  for (int i = 0; i < kSeconds; ++i) service_.Step(std::chrono::seconds(1));
  const double seconds = SecondsSince(begin);
  Say("gangs begin and end", begin);
  Print("gangs that had room", static_cast<double>(service_.grants()), "");
  Print("gangs that had room, per second", static_cast<double>(service_.grants()) / seconds, "/s");
  if (service_.grants() == 0 || service_.revocations() > 0) std::abort();
}

void SimulationPhases::GoAway() {
  auto begin = SteadyClock::now();
  cluster_.SetAway(true);
  StepPauses(12);
  Say("the cluster does not answer", begin);
  begin = SteadyClock::now();
  cluster_.SetAway(false);
  StepPauses(6);
  Say("and is back", begin);
}

int SimulationPhases::CancelMany() {
  const int many = sizes_.gangs / 10;
  const auto begin = SteadyClock::now();
  const std::vector<std::int64_t> wanted(service_.wanted().rbegin(), service_.wanted().rend());
  int cancelled = 0;
  for (const std::int64_t uid : wanted) {
    if (service_.has_room(uid) || cancelled == many) continue;
    service_.Release(uid);
    if (++cancelled % 50 == 0) service_.RunReady();
  }
  service_.Settle();
  StepPauses(6);
  Say("cancelled: a tenth, at once", begin);
  return cancelled;
}

void SimulationPhases::StartAgain() {
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
  StepPauses(6);
  Say("the next server: all ask again, first lists", begin);
}

void SimulationPhases::StepPauses(int count) {
  for (int i = 0; i < count; ++i) service_.Step(pause_);
}

void SimulationPhases::SayMemory(std::size_t own) const {
  Print("memory of a queued job, the simulated cluster left out",
        static_cast<double>(HeldBytes() - held_at_first_ - own) / sizes_.gangs, "bytes");
  Print("resident more than at first, the simulated cluster left out",
        ResidentMib() - resident_at_first_ - static_cast<double>(own) / (1 << 20), "MiB");
}

void SimulationPhases::End() const {
  Print("resident in all", ResidentMib(), "MiB");
  Print("the longest turn of the loop", longest_ms_, "ms");
}

}  // namespace trainyard::bench
