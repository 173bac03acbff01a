// The engine of a cluster on a real Slurm: the conformance suite of all engines, with the parts of
// which a server is made. SLURM_CONF names the cluster: its nodes have kRoom CPUs together and nobody else's
// jobs, and NODE_DIR is where they keep programs. tests/e2e/test_slurm_conformance.py runs it. As `PROGRAM
// agent ...` it is the agent that its jobs start.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <ranges>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/system_clock.h"
#include "base/async/testing/temporary_folder.h"
#include "base/check.h"
#include "base/tls/tls_identity.h"
#include "engine/agent/run_agent.h"
#include "engine/slurm/cluster.h"
#include "engine/slurm/slurm_tools.h"
#include "engine/testing/engine_conformance.h"
#include "engine/testing/loop.h"
#include "net/http/connection_budget.h"
#include "rules/slurm/gang.h"
#include "stores/store/data_directory.h"

namespace trainyard::engine {
namespace {

constexpr int kRoom = 4;
/// Slurm, its nodes and the agents on a busy machine.
constexpr std::chrono::seconds kSettleMax{60};

/// The folder in which nodes keep the agent's program: the same for all tests.
std::string node_dir;

/// A server's room on the cluster; a world's data directory is its own, so its jobs' names are, too.
class SlurmWorld {
 public:
  SlurmWorld() { Restart(); }
  ~SlurmWorld() { Close(); }
  SlurmWorld(const SlurmWorld&) = delete;
  SlurmWorld& operator=(const SlurmWorld&) = delete;

  std::vector<Admissions::Options::Room> Rooms() {
    return {{.name = placement::kSlurmEngine, .engine = cluster_->engine()}};
  }
  boost::asio::any_io_executor executor() { return loop_.context.get_executor(); }
  static bool has_own_networks() { return false; }
  static int room() { return kRoom; }
  void Restart() {
    Close();
    slurm::EngineOptions options;
    options.kind = slurm::EngineOptions::Kind::kSlurm;
    options.node_dir = node_dir;
    const Cluster::Place place{.project = "trainyard",
                               .google_front = true,
                               .image_map = {},
                               .environments_dir = data_.environments_dir(),
                               .address_file = data_.Path("run/agents-address"),
                               .database = data_.Path("engines.db")};
    auto cluster = Cluster::Open(loop_.context, options, place, clock_, identity_);
    TY_CHECK(cluster && *cluster);
    cluster_ = *std::move(cluster);
    is_started_ = false;
  }
  /// Until Slurm has no job of what was released, each reservation that fits has its resources and agents
  /// that answer, and each other one knows what it waits for.
  void Settle(const WantedRoom& wanted) {
    if (!std::exchange(is_started_, true))
      TY_CHECK(cluster_->Start([](const auto&, auto stream) { stream->Reset(); }, connections_));
    EXPECT_TRUE(loop_.RunUntil([&] { return IsSettled(wanted) && HasLeft(wanted); }, kSettleMax))
        << Shown(wanted);
    for (const WantedReservation& one : wanted | std::views::values)
      if (one.grant) ExpectAgents(*one.grant);
    loop_.Poll();  // who is to be told is told
  }

 private:
  /// The server is killed: nothing is given back.
  void Close() {
    if (!cluster_) return;
    cluster_->Stop();
    cluster_->Close();
    cluster_.reset();
  }

  /// As far as the engine knows.
  bool IsSettled(const WantedRoom& wanted) {
    int used = 0;
    std::vector<int> waiting;
    for (const auto& [key, one] : wanted) {
      const std::optional<placement::Wait> wait = cluster_->engine().WaitOf(key);
      if (!wait) {
        if (!one.grant && !one.is_detached) return false;  // it has room, and is about to be told
        used += one.replicas;
        continue;
      }
      if (!WaitsForRoom(*wait)) return false;
      waiting.push_back(one.replicas);
    }
    return std::ranges::all_of(waiting, [used](int replicas) { return used + replicas > kRoom; });
  }
  /// What Slurm says of the first one in the line; the suite has no second one.
  static bool WaitsForRoom(const placement::Wait& wait) {
    return wait.reason == slurm::MeaningOf("Resources", "").reason;
  }

  /// Slurm has a job for each reservation, and no other.
  bool HasLeft(const WantedRoom& wanted) {
    const auto jobs = Jobs();
    return jobs && std::ranges::count_if(*jobs, [](const slurm::ListedJob& job) {
                     return !slurm::HasEnded(job.state);
                   }) == std::ssize(wanted);
  }
  SlurmAnswer<std::vector<slurm::ListedJob>> Jobs() { return tools_.List(std::nullopt); }

  void ExpectAgents(const Grant& grant) {
    for (const Slot& slot : grant.slots()) {
      const AttemptRef none{.id = "1-master-replica-0-1", .node = slot.node(), .agent = slot.agent()};
      EXPECT_EQ(loop_.Run(cluster_->host().Inspect(none)), Inspection{AttemptState::kAbsent})
          << slot.agent() << " on " << slot.node();
    }
  }

  std::string Shown(const WantedRoom& wanted) {
    std::ostringstream text;
    for (const auto& [key, one] : wanted) {
      const std::optional<placement::Wait> wait = cluster_->engine().WaitOf(key);
      text << "\nreservation " << key.job_uid << ", try " << key.try_number << ": "
           << (one.grant ? "granted"
               : wait    ? wait->reason
                         : "not told");
    }
    if (const auto jobs = Jobs())
      for (const slurm::ListedJob& job : *jobs)
        text << "\nin Slurm: " << job.name << " " << job.state_text << " " << job.reason;
    return text.str();
  }

  TemporaryFolder folder_;
  Loop loop_;
  SystemClock clock_;
  store::DataDirectory data_ = *store::DataDirectory::Open(folder_.path() + "/data");
  tls::TlsIdentity identity_ = *tls::EnsureTlsIdentity(data_.tls_dir(), {}, clock_.Now());
  SlurmTools tools_{SlurmToolOptions()};
  http::ConnectionBudget connections_{{.connections_max = 100, .known_peer_max = 100}};
  std::unique_ptr<Cluster> cluster_;
  bool is_started_ = false;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Slurm, EngineConformance, SlurmWorld);

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
