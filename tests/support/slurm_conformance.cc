// The engine of a cluster on a real Slurm: the conformance suite of all engines. SLURM_CONF names the
// cluster: its nodes have kRoom CPUs together and nobody else's jobs, and NODE_DIR is where they keep
// programs. tests/e2e/test_slurm_conformance.py runs it. As `PROGRAM agent ...` it is the agent that its jobs
// start.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>

#include "cluster_world.h"
#include "engine/agent/run_agent.h"
#include "engine/slurm/slurm_tools.h"
#include "rules/slurm/gang.h"

namespace trainyard::engine {
namespace {

/// The folder in which nodes keep the agent's program: the same for all tests.
std::string node_dir;

/// A world's data directory is its own, so its jobs' names are, too.
class SlurmKind {
 public:
  static constexpr std::string_view kName = placement::kSlurmEngine;
  static constexpr int kRoom = 4;
  static constexpr std::chrono::seconds kSettleMax{60};

  static EngineOptions Options() {
    EngineOptions options;
    options.kind = EngineOptions::Kind::kSlurm;
    options.node_dir = node_dir;
    return options;
  }
  /// What Slurm says of the first one in the line; the suite has no second one.
  static bool WaitsForRoom(const placement::Wait& wait) {
    return wait.reason == slurm::MeaningOf("Resources", "").reason;
  }
  /// Slurm has a job for each reservation, and no other.
  bool HasOnly(std::ptrdiff_t, std::ptrdiff_t wanted) {
    const auto jobs = tools_.List(std::nullopt);
    return jobs && std::ranges::count_if(*jobs, [](const slurm::ListedJob& job) {
                     return !slurm::HasEnded(job.state);
                   }) == wanted;
  }
  std::string Shown() {
    std::string text;
    if (const auto jobs = tools_.List(std::nullopt))
      for (const slurm::ListedJob& job : *jobs)
        text += "\nin Slurm: " + job.name + " " + job.state_text + " " + job.reason;
    return text;
  }

 private:
  SlurmTools tools_{SlurmToolOptions()};
};

INSTANTIATE_TYPED_TEST_SUITE_P(Slurm, EngineConformance, ClusterWorld<SlurmKind>);

}  // namespace
}  // namespace trainyard::engine

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "agent") return trainyard::agent::RunAgent(argc - 1, argv + 1);
  testing::InitGoogleMock(&argc, argv);
  const bool is_asked_for_names = GTEST_FLAG_GET(list_tests);
  if (!is_asked_for_names && (argc != 2 || std::getenv("SLURM_CONF") == nullptr)) {
    std::fprintf(stderr, "usage: SLURM_CONF=FILE slurm_conformance NODE_DIR\n");
    return 2;
  }
  if (argc == 2) trainyard::engine::node_dir = argv[1];
  return RUN_ALL_TESTS();
}
