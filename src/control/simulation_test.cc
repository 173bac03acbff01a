#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/diagnostics.h"
#include "control/testing/isolated_run.h"
#include "control/testing/shrink.h"
#include "control/testing/simulation.h"
#include "control/testing/simulation_workers.h"

/// docs/reliability.md, "In simulated time". TRAINYARD_SEED repeats one schedule and prints its story, with
/// TRAINYARD_ONLY only some of its actions; TRAINYARD_SCHEDULES says how many are tried, from
/// TRAINYARD_FIRST_SEED on.
namespace trainyard::control::simulation_test {
namespace {

constexpr int kWorkers = 2;

/// A seed that once failed, and what it found. When actions are added, it is another schedule from then on.
struct KnownSeed {
  std::uint64_t seed;
  std::string_view only;  ///< as TRAINYARD_ONLY
  std::string_view found;
};
constexpr std::string_view kKilled =
    "a server that was killed while it took over its jobs called supervisors";
constexpr std::string_view kUnknown = "the simulation itself was wrong";
const std::vector<KnownSeed> kKnownSeeds = {
    {8, "", "a tuning job that had not heard of its last trial's end counted as one that does not end"},
    {9, "", "a call that began while its server was killed crashed"},
    {48, "", kKilled},
    {49, "", kKilled},
    {52, "", kUnknown},
    {83, "", "the exit record of a replica that had not connected was queued on no connection"},
    {698, "30:3,31:1,32,34:0", "a pause decided by a clock ahead lasted years if the program ended before"},
    {5073, "", "a server that could not take over its jobs from a broken disk did not end"},
    {5123, "", "a replica's pause that was decided by a clock ten years ahead lasted ten years"},
    {5138, "", kUnknown},
    {85, "", "lines that a killed supervisor had not synced were missed after a power cut"},
};

std::string Text(const char* name) {
  const char* const text = std::getenv(name);
  return text != nullptr ? text : "";
}

std::uint64_t Number(const char* name, std::uint64_t otherwise) {
  const std::string text = Text(name);
  return text.empty() ? otherwise : std::strtoull(text.c_str(), nullptr, 10);
}

/// In CI another one each day.
std::uint64_t FirstSeed() {
  constexpr std::uint64_t kSeedsOfDay = 1'000'000;
  const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  const auto days = static_cast<std::uint64_t>(today.time_since_epoch().count());
  return Number("TRAINYARD_FIRST_SEED", Text("TRAINYARD_CI").empty() ? 1 : days * kSeedsOfDay);
}

void ExpectNothing(const Schedule& schedule, const std::vector<std::string>& violations) {
  for (const std::string& violation : violations)
    ADD_FAILURE() << "seed " << schedule.seed << ": " << violation;
}

/// In this process, so that a debugger can look at it.
void Tell(const Schedule& schedule) {
  const ScratchDirectory scratch;
  SimulationGround ground(scratch.path());
  Simulation told(ground, schedule, {.listener = [](const std::string& line) { std::cout << line << "\n"; }});
  ExpectNothing(schedule, told.Run());
}

/// Shrinks a failing schedule and says how it can be repeated.
void Explain(const Schedule& failing, const ScratchDirectory& scratch) {
  const IsolatedRun run = RunIsolated(failing, scratch.path());
  ExpectNothing(failing, run.violations);
  if (run.violations.empty()) return;
  const ShrunkFailure shrunk = ShrinkFailure(failing, run, scratch.path());
  for (const std::string& line : shrunk.run.story) std::cout << line << "\n";
  std::cout << shrunk.run.errors;
  std::cout << "repeat it: TRAINYARD_SEED=" << failing.seed << " TRAINYARD_ONLY="
            << PrintSelection(MakeSchedule(failing.seed, kLongSchedule), shrunk.schedule)
            << " simulation_test\n";
}

TEST(SimulationTest, KeepsItsPromises) {
  SetDiagnosticLevel(DiagnosticLevel::kError);
  if (const std::uint64_t seed = Number("TRAINYARD_SEED", 0); seed != 0) {
    const Schedule whole = MakeSchedule(seed, kLongSchedule);
    const std::string only = Text("TRAINYARD_ONLY");
    return Tell(only.empty() ? whole : Select(whole, only));
  }
  const ScratchDirectory scratch;
  const SimulationPlan plan{.first_seed = FirstSeed(),
                            .schedules = Number("TRAINYARD_SCHEDULES", 200),
                            .actions = kShortSchedule,
                            .workers = kWorkers};
  std::cout << "first seed: " << plan.first_seed << "\n";
  const SimulationReport report = RunSchedules(plan, scratch.path(), nullptr);
  EXPECT_EQ(report.schedules, plan.schedules);
  EXPECT_EQ(report.failures, 0U);
  for (const SimulationReport::Failure& failure : report.failed)
    std::cout << "seed " << failure.seed << ": " << failure.what << "\n";
  if (!report.failed.empty()) Explain(MakeSchedule(report.failed[0].seed, kShortSchedule), scratch);
}

TEST(SimulationTest, SeedsThatOnceFailedKeepTheirPromises) {
  SetDiagnosticLevel(DiagnosticLevel::kError);
  const ScratchDirectory scratch;
  for (const KnownSeed& known : kKnownSeeds) {
    const Schedule whole = MakeSchedule(known.seed, kLongSchedule);
    const Schedule schedule = known.only.empty() ? whole : Select(whole, known.only);
    EXPECT_EQ(RunIsolated(schedule, scratch.path()).violations, std::vector<std::string>()) << known.found;
  }
}

TEST(SimulationTest, AScheduleDoesNotDependOnTheSchedulesBeforeIt) {
  SetDiagnosticLevel(DiagnosticLevel::kError);
  const ScratchDirectory scratch;
  SimulationGround ground(scratch.path());
  std::vector<std::vector<std::string>> stories;
  for (const std::uint64_t seed : {5U, 6U, 4U, 5U, 6U, 5U}) {
    std::vector<std::string>& story = stories.emplace_back();
    Simulation simulation(ground, MakeSchedule(seed, kShortSchedule),
                          {.listener = [&story](const std::string& line) { story.push_back(line); }});
    ExpectNothing(MakeSchedule(seed, kShortSchedule), simulation.Run());
  }
  EXPECT_EQ(stories[0], stories[3]);
  EXPECT_EQ(stories[0], stories[5]);
  EXPECT_EQ(stories[1], stories[4]) << "with Slurm";
}

/// A simulation that finds nothing may only be blind.
TEST(SimulationTest, FindsADiskThatLosesWhatItSaysIsWrittenAndShrinksTheSchedule) {
  SetDiagnosticLevel(DiagnosticLevel::kError);
  constexpr int kSeedsMax = 100;
  const ScratchDirectory scratch;
  Schedule failing;
  IsolatedRun run;
  for (std::uint64_t seed = 1; seed <= kSeedsMax && run.violations.empty(); ++seed) {
    failing = MakeSchedule(seed, kShortSchedule);
    run = RunIsolated(failing, scratch.path(), true);
  }
  ASSERT_FALSE(run.violations.empty());
  const ShrunkFailure shrunk = ShrinkFailure(failing, run, scratch.path(), true);
  EXPECT_FALSE(shrunk.run.violations.empty());
  EXPECT_LE(shrunk.schedule.actions.size(), 3U) << "a job, and a power cut";
  const Schedule again =
      Select(failing, PrintSelection(MakeSchedule(failing.seed, kShortSchedule), shrunk.schedule));
  EXPECT_EQ(RunIsolated(again, scratch.path(), true).story, shrunk.run.story) << "it is repeated exactly";
}

}  // namespace
}  // namespace trainyard::control::simulation_test
