// What the order between projects costs: one decision of the queue, and the place of one waiting job.
// usage: queue_bench [JOBS [PROJECTS]]

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>

#include "rules/placement/project_use.h"
#include "rules/placement/queue.h"

namespace trainyard::placement {
namespace {

constexpr int kJobsDefault = 10'000;
constexpr int kProjectsDefault = 100;
constexpr int kRunning = 50;
constexpr int kTimes = 200;

double Microseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kTimes; ++i) work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / kTimes;
}

std::string Project(std::int64_t uid, int projects) { return "project_" + std::to_string(uid % projects); }

Gang Make(std::int64_t uid, int projects, double cpus) {
  Gang gang{.uid = uid,
            .project = Project(uid, projects),
            .job_id = "job_" + std::to_string(uid),
            .create_time = SysTime(std::chrono::seconds(uid)),
            .replicas = {}};
  gang.replicas.push_back({.machine_type = "n1-standard-4", .cpus = cpus, .memory_bytes = 1});
  gang.share = cpus / kRunning / 4;
  return gang;
}

void Run(int jobs, int projects) {
  constexpr Capacity kCapacity{.mode = Capacity::Mode::kStrict, .cpus = kRunning * 4, .memory_bytes = 1'000};
  std::mt19937 random(1);
  ProjectUses uses({.cpus = kRunning * 4});
  Queue queue;
  const SysTime now{std::chrono::hours(1)};
  for (std::int64_t uid = 1; uid <= jobs; ++uid) queue.Add(Make(uid, projects, 4));
  std::vector<Gang> running;
  for (std::int64_t uid = jobs + 1; uid < jobs + kRunning; ++uid) {
    running.push_back(Make(uid, projects, 4));
    uses.Start(uid, running.back().project, {.cpus = 4}, now - std::chrono::minutes(random() % 60));
  }
  const auto rank = [&] {
    std::map<std::string, Standing> standings;
    for (const std::string& project : queue.Projects())
      standings[project] = {.score = uses.ScoreOf(project, now)};
    queue.SetStandings(standings, now);
  };
  const auto decide = [&] {
    rank();
    if (PlanAdmissions(kCapacity, running, queue.Walk(), {}, {}).admitted.size() != 1) std::abort();
  };
  std::printf("%d jobs of %d projects wait, %d run\n", jobs, projects, kRunning - 1);
  std::printf("decision (rank the projects, admit one): %.1f us\n", Microseconds(decide));
  std::printf("the whole order written out, as no decision does: %.1f us\n",
              Microseconds([&] { (void)queue.InOrder(); }));
  std::int64_t uid = 0;
  const auto place = [&] {
    uid = uid % jobs + 1;
    const Gang& gang = *queue.Find(uid);
    if (queue.TurnOf(gang, "x").position < 1) std::abort();
  };
  place();
  std::printf("place and reason of one job: %.1f us\n", Microseconds(place));
  const auto come_and_go = [&] {
    Gang gang = *queue.Take(queue.Walk()()->uid);
    queue.Add(std::move(gang));
  };
  std::printf("one leaves, one comes: %.1f us\n", Microseconds(come_and_go));
}

}  // namespace
}  // namespace trainyard::placement

int main(int argc, char** argv) {
  const int jobs = argc > 1 ? std::atoi(argv[1]) : trainyard::placement::kJobsDefault;
  const int projects = argc > 2 ? std::atoi(argv[2]) : trainyard::placement::kProjectsDefault;
  trainyard::placement::Run(jobs, projects);
  return 0;
}
