#include "engine/slurm/slurm_engine.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <optional>

#include "base/async/guarded.h"
#include "base/async/system_clock.h"
#include "base/async/task_group.h"
#include "base/async/testing/temporary_folder.h"
#include "base/check.h"
#include "engine/remote/agent_slots.h"
#include "engine/testing/loop.h"

namespace trainyard::engine {
namespace {

using boost::asio::ip::make_address;
using slurm::JobState;
using testing::HasSubstr;

constexpr std::int64_t kJob = 40;
const auto kNode1 = make_address("192.0.2.1");

/// The simulated cluster's answers, set by the test.
struct World {
  std::vector<slurm::ListedJob> jobs;
  std::string name;  ///< of the job that was submitted
  std::string comment;
  std::string ticket;
  int submitted = 0;
  int listed = 0;
  int cancelled = 0;
};

/// Node "node1" is at 192.0.2.1 and "node2" at 192.0.2.2; the name of "nameless" cannot be resolved.
class WorldClient final : public SlurmClient {
 public:
  explicit WorldClient(Guarded<World>& world) : world_(world) {}
  [[nodiscard]] SlurmAnswer<std::int64_t> Submit(const slurm::BatchJob& batch,
                                                 const slurm::GangRequest&) const override {
    world_.With([&batch](World& world) {
      world.name = slurm::JobName(batch.installation, batch.submission.gang);
      world.comment = slurm::Comment(batch.submission);
      world.ticket = batch.boot.ticket;
      ++world.submitted;
    });
    return kJob;
  }
  [[nodiscard]] SlurmAnswer<std::vector<slurm::ListedJob>> List(std::optional<std::int64_t>) const override {
    return world_.With([](World& world) {
      ++world.listed;
      return world.jobs;
    });
  }
  [[nodiscard]] SlurmAnswer<void> Cancel(const std::string&, std::span<const std::int64_t>) const override {
    world_.With([](World& world) { ++world.cancelled; });
    return {};
  }
  [[nodiscard]] SlurmAnswer<void> Check(const slurm::Options&) const override { return {}; }
  [[nodiscard]] SlurmAnswer<std::vector<slurm::Node>> Nodes() const override { return AllNodes(); }

  static std::vector<slurm::Node> AllNodes() {
    std::vector<slurm::Node> nodes;
    for (const auto& [name, address] : {std::pair{"node1", "192.0.2.1"}, std::pair{"node2", "192.0.2.2"},
                                        std::pair{"nameless", "nobody.invalid"}}) {
      nodes.push_back({.partition = "main", .default_partition = true, .partition_up = true});
      nodes.back().name = name;
      nodes.back().address = address;
      nodes.back().state = "idle";
      nodes.back().cpus = 4;
    }
    return nodes;
  }

 private:
  Guarded<World>& world_;
};

/// A submitted job of one slot; agents connect with its ticket.
class SlurmEngineTest : public testing::Test {
 protected:
  SlurmEngineTest() {
    auto opened = SlurmEngine::Open(loop_.context.get_executor(), folder_.path() + "/engines.db",
                                    {.settings = {},
                                     .boot = {},
                                     .clock = clock_,
                                     .client = std::make_unique<WorldClient>(world_),
                                     .nodes = WorldClient::AllNodes()},
                                    host_);
    TY_CHECK(opened);
    engine_ = *std::move(opened);
    engine_->Start();
    placement::Gang gang{.uid = 7, .job_id = "j", .replicas = {{.machine_type = "m", .cpus = 1}}};
    std::ignore = engine_->Offer({.key = {.job_uid = 7, .try_number = 1}, .gang = std::move(gang)});
    EXPECT_TRUE(loop_.RunUntil([this] { return world().submitted == 1; }));
  }

  World world() {
    return world_.With([](const World& world) { return world; });
  }
  void Says(std::vector<slurm::ListedJob> jobs) {
    world_.With([&jobs](World& world) { world.jobs = std::move(jobs); });
  }
  slurm::ListedJob Job(JobState state, std::string nodes, std::int64_t id = kJob) {
    return {.id = id,
            .name = world().name,
            .comment = world().comment,
            .state = state,
            .state_text = "STATE",
            .nodes = std::move(nodes),
            .reason = "None"};
  }
  boost::asio::awaitable<Result<std::string>> Come(const std::string& node,
                                                   const boost::asio::ip::address& from,
                                                   std::string instance = "its own") {
    FromAgent::Hello hello;
    hello.set_ticket(world().ticket);
    hello.set_instance(std::move(instance));
    hello.mutable_node()->set_name(node);
    return engine_->TakeSlot(std::move(hello), {.from = from, .is_there = [this] { return is_there_; }});
  }
  boost::asio::awaitable<void> Keep(std::string node, boost::asio::ip::address from) {
    taken_ = co_await Come(node, from);
  }
  static std::string Said(const Result<std::string>& taken) { return taken ? *taken : taken.error().message; }

  Loop loop_;
  TemporaryFolder folder_;
  SystemClock clock_;
  Guarded<World> world_;
  RemoteAttemptHost host_{loop_.context.get_executor(), [](const std::string&) { return true; }};
  std::unique_ptr<SlurmEngine> engine_;
  std::optional<Result<std::string>> taken_;
  bool is_there_ = true;
  TaskGroup tasks_{loop_.context.get_executor()};
};

TEST_F(SlurmEngineTest, WhoHasReadTheTicketGetsNoSlotBeforeSlurmSaysThatTheJobRuns) {
  Says({Job(JobState::kPending, "")});
  tasks_.Spawn(Keep("node1", kNode1));
  ASSERT_TRUE(loop_.RunUntil([this] { return world().listed >= 2; })) << "it is asked for again";
  EXPECT_FALSE(taken_) << Said(*taken_);
  Says({Job(JobState::kRunning, "node1")});
  ASSERT_TRUE(loop_.RunUntil([this] { return taken_.has_value(); }));
  EXPECT_EQ(Said(*taken_), "7-1-1/0");
}

TEST_F(SlurmEngineTest, WhoHasGoneBeforeTheJobRunsHoldsNoSlot) {
  Says({Job(JobState::kPending, "")});
  tasks_.Spawn(Keep("node1", kNode1));
  ASSERT_TRUE(loop_.RunUntil([this] { return world().listed >= 2; }));
  is_there_ = false;
  Says({Job(JobState::kRunning, "node1")});
  ASSERT_TRUE(loop_.RunUntil([this] { return taken_.has_value(); }));
  EXPECT_EQ(Said(*taken_), "the agent has gone");
  is_there_ = true;
  EXPECT_EQ(Said(loop_.Run(Come("node1", kNode1, "another"))), "7-1-1/0");
}

TEST_F(SlurmEngineTest, NoSlotIsGivenOnANodeThatIsNotTheJobs) {
  Says({Job(JobState::kRunning, "node1")});
  const auto taken = loop_.Run(Come("node2", make_address("192.0.2.2")));
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Code::kPermissionDenied);
  EXPECT_EQ(taken.error().message, "Slurm has allocated other nodes to the job than node2.");
}

TEST_F(SlurmEngineTest, NoSlotIsGivenToWhoComesFromAnotherAddressThanTheNodes) {
  Says({Job(JobState::kRunning, "node1,nameless,unlisted")});
  for (const auto& [node, from] :
       {std::pair{"node1", "192.0.2.2"}, std::pair{"node1", "127.0.0.1"}, std::pair{"node1", "0.0.0.0"},
        std::pair{"nameless", "192.0.2.1"}, std::pair{"unlisted", "192.0.2.1"}}) {
    const auto taken = loop_.Run(Come(node, make_address(from)));
    ASSERT_FALSE(taken) << node << from;
    EXPECT_EQ(taken.error().code, Code::kUnavailable) << "it may come again";
    EXPECT_THAT(taken.error().message, HasSubstr(std::string("An agent on ") + node + " came from " + from));
  }
  EXPECT_EQ(Said(loop_.Run(Come("node1", make_address("::ffff:192.0.2.1")))), "7-1-1/0");
}

TEST_F(SlurmEngineTest, AJobThatOnlyHasTheNamesOfOursOpensNothing) {
  Says({Job(JobState::kRunning, "node2", kJob + 1)});
  tasks_.Spawn(Keep("node2", make_address("192.0.2.2")));
  ASSERT_TRUE(loop_.RunUntil([this] { return world().listed >= 2; }));
  EXPECT_FALSE(taken_) << Said(*taken_);
  Says({Job(JobState::kRunning, "node1"), Job(JobState::kRunning, "node2", kJob + 1)});
  ASSERT_TRUE(loop_.RunUntil([this] { return taken_.has_value(); }));
  EXPECT_EQ(Said(*taken_), "Slurm has allocated other nodes to the job than node2.");
}

/// The next server may want the job again, and must not take this for a user's cancellation.
TEST_F(SlurmEngineTest, TheCancellationOfAJobThatWasReturnedIsRecorded) {
  engine_->Return({.job_uid = 7, .try_number = 1});
  ASSERT_TRUE(loop_.RunUntil([this] { return world().cancelled == 1; }));
  engine_.reset();
  const auto slots = AgentSlots::Open(loop_.context.get_executor(), folder_.path() + "/engines.db");
  EXPECT_EQ((*slots)->Find({.job_uid = 7, .try_number = 1})->cancelled, std::set<std::int64_t>{kJob});
}

TEST_F(SlurmEngineTest, WhoHasTheSlotComesBackFromAnywhereAndNobodyElse) {
  Says({Job(JobState::kRunning, "node1")});
  ASSERT_EQ(Said(loop_.Run(Come("node1", kNode1))), "7-1-1/0");
  EXPECT_EQ(Said(loop_.Run(Come("node1", make_address("192.0.2.9")))), "7-1-1/0");
  EXPECT_THAT(Said(loop_.Run(Come("node1", kNode1, "another"))), HasSubstr("has the slot"));
}

}  // namespace
}  // namespace trainyard::engine
