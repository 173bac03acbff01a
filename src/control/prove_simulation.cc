#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/async/diagnostics.h"
#include "control/testing/isolated_run.h"
#include "control/testing/simulation.h"
#include "control/testing/simulation_workers.h"

/// `./dev prove simulation`: schedules of the whole server for so long, on all cores. docs/reliability.md,
/// "In simulated time".
namespace trainyard::control {
namespace {

constexpr const char* kUsage =
    "prove_simulation [--hours N] [--schedules N] [--first-seed N] [--workers N]\n"
    "prove_simulation --seed N [--only ACTIONS]\n";
constexpr std::size_t kExplainedMax = 3;

struct Asked {
  SimulationPlan plan{.schedules = 0, .actions = kLongSchedule};
  double hours = 0;
  std::optional<std::uint64_t> seed{};
  std::string only{};
};

template <class Number>
bool Read(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool Take(Asked& asked, std::string_view option, std::string_view value) {
  if (option == "--hours") return Read(value, asked.hours) && asked.hours > 0;
  if (option == "--schedules") return Read(value, asked.plan.schedules);
  if (option == "--first-seed") return Read(value, asked.plan.first_seed);
  if (option == "--workers") return Read(value, asked.plan.workers) && asked.plan.workers > 0;
  if (option == "--seed") return Read(value, asked.seed.emplace());
  if (option == "--only") asked.only = value;
  return option == "--only";
}

/// Seeds that no run before has tried, as far as that can be.
std::uint64_t FreshSeed() {
  return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count() / 1'000);
}

std::optional<Asked> Parse(int count, char** words) {
  Asked asked;
  asked.plan.first_seed = FreshSeed();
  asked.plan.workers = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  for (int i = 1; i < count; i += 2) {
    if (i + 1 >= count || !Take(asked, words[i], words[i + 1])) return std::nullopt;
  }
  if (!asked.seed && asked.hours == 0 && asked.plan.schedules == 0) return std::nullopt;
  if (asked.plan.schedules == 0) asked.plan.schedules = SimulationPlan{}.schedules;
  return asked;
}

void Print(const IsolatedRun& run) {
  for (const std::string& line : run.story) std::cout << line << "\n";
  std::cout << run.errors;
  for (const std::string& violation : run.violations) std::cout << "VIOLATION: " << violation << "\n";
}

int End(std::uint64_t schedules, std::uint64_t violations) {
  std::cout << schedules << " schedules, " << violations << " violations" << std::endl;
  return violations == 0 ? 0 : 1;
}

int RunOne(const Asked& asked) {
  const ScratchDirectory scratch;
  const Schedule whole = MakeSchedule(*asked.seed, kLongSchedule);
  const IsolatedRun run = RunIsolated(asked.only.empty() ? whole : Select(whole, asked.only), scratch.path());
  Print(run);
  return End(1, run.violations.empty() ? 0 : 1);
}

/// Shrinks the schedule and prints what is left.
void Explain(const SimulationReport::Failure& failure, const ScratchDirectory& scratch) {
  std::cout << "seed " << failure.seed << ": " << failure.what << "\n";
  const Schedule whole = MakeSchedule(failure.seed, kLongSchedule);
  const IsolatedRun run = RunIsolated(whole, scratch.path());
  if (run.violations.empty()) {
    std::cout << "it does not fail when it is repeated alone\n";
    return;
  }
  const ShrunkFailure shrunk = ShrinkFailure(whole, run, scratch.path());
  std::cout << "shrunk from " << whole.actions.size() << " actions to " << shrunk.schedule.actions.size()
            << " in " << shrunk.tries << " tries:\n";
  Print(shrunk.run);
  std::cout << "repeat it: ./dev prove simulation --seed " << failure.seed << " --only "
            << PrintSelection(whole, shrunk.schedule) << std::endl;
}

int RunAll(Asked asked) {
  const auto begin = std::chrono::steady_clock::now();
  const ScratchDirectory scratch;
  if (asked.hours > 0)
    asked.plan.deadline = begin + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                      std::chrono::duration<double, std::ratio<3600>>(asked.hours));
  std::cout << "first seed: " << asked.plan.first_seed << ", " << asked.plan.workers << " workers"
            << std::endl;
  const SimulationReport report =
      RunSchedules(asked.plan, scratch.path(), [begin](const SimulationReport& so_far) {
        const auto minutes =
            std::chrono::floor<std::chrono::minutes>(std::chrono::steady_clock::now() - begin);
        std::cout << minutes.count() << " minutes: " << so_far.schedules << " schedules, " << so_far.failures
                  << " violations" << std::endl;
      });
  for (const std::string& line : PrintCoverage(report.coverage)) std::cout << line << "\n";
  for (std::size_t i = 0; i < report.failed.size(); ++i) {
    if (i < kExplainedMax) Explain(report.failed[i], scratch);
    if (i >= kExplainedMax)
      std::cout << "seed " << report.failed[i].seed << ": " << report.failed[i].what << "\n";
  }
  return End(report.schedules, report.failures);
}

}  // namespace
}  // namespace trainyard::control

int main(int count, char** words) {
  using namespace trainyard;
  SetDiagnosticLevel(DiagnosticLevel::kError);
  std::optional<control::Asked> asked = control::Parse(count, words);
  if (!asked) {
    std::cerr << control::kUsage;
    return 2;
  }
  return asked->seed ? control::RunOne(*asked) : control::RunAll(*std::move(asked));
}
