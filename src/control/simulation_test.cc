#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>

#include "base/async/diagnostics.h"
#include "control/testing/simulation.h"

/// docs/reliability.md. TRAINYARD_SEED repeats one schedule and prints its story; TRAINYARD_SCHEDULES says
/// how many are tried, from TRAINYARD_FIRST_SEED on.
namespace trainyard::control {
namespace {

std::uint64_t Asked(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(SimulationTest, KeepsItsPromises) {
  SetDiagnosticLevel(DiagnosticLevel::kError);
  SimulationGround ground;
  const bool one = std::getenv("TRAINYARD_SEED") != nullptr;
  const std::uint64_t first = Asked("TRAINYARD_SEED", Asked("TRAINYARD_FIRST_SEED", 1));
  const std::uint64_t count = one ? 1 : Asked("TRAINYARD_SCHEDULES", 200);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Simulation simulation(ground, seed);
    const std::vector<std::string> violations = simulation.Run();
    if (one || !violations.empty())
      for (const std::string& line : simulation.story()) std::cout << line << "\n";
    for (const std::string& violation : violations) ADD_FAILURE() << "seed " << seed << ": " << violation;
    if (!violations.empty()) return;
  }
}

}  // namespace
}  // namespace trainyard::control
