#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <optional>

#include "engine/admissions.h"
#include "engine/local/local_engine.h"
#include "engine/testing/loop.h"

/// Projects that share a machine for one job at a time: it has four CPUs, and each job takes them all.
namespace trainyard::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const SysTime kBegin{std::chrono::hours(1'000)};

class StandingClock final : public Clock {
 public:
  [[nodiscard]] SysTime Now() const override { return now; }
  SysTime now = kBegin + std::chrono::minutes(1);
};

class SharesTest : public testing::Test {
 protected:
  void Make(std::map<std::string, double> weights = {}, placement::Naming naming = {}) {
    LocalEngine::Options options{
        .capacity = {.mode = placement::Capacity::Mode::kStrict, .cpus = 4, .memory_bytes = 100},
        .probe = [](int) { return true; },
        .shares = {.weights = std::move(weights), .naming = naming, .clock = &clock_}};
    admissions_.reset();
    engine_ = std::make_unique<LocalEngine>(loop_.context.get_executor(), std::move(options));
    admissions_.emplace(loop_.context.get_executor(),
                        Admissions::Options{.rooms = {{.name = placement::kLocalEngine,
                                                       .engine = *engine_,
                                                       .quotas = placement::QuotaGate(
                                                           quotas_, placement::kLocalEngine, naming)}}});
  }
  static ReservationKey Key(std::int64_t uid) { return {.job_uid = uid, .try_number = 1}; }
  static placement::Gang Gang(std::int64_t uid, const std::string& project) {
    placement::Gang gang{.uid = uid,
                         .project = project,
                         .creator = "user:" + project,
                         .job_id = "j" + std::to_string(uid),
                         .create_time = kBegin + std::chrono::seconds(uid),
                         .replicas = {}};
    gang.replicas.push_back({.machine_type = "n1-standard-4", .cpus = 4, .memory_bytes = 10});
    return gang;
  }
  void Reserve(std::int64_t uid, const std::string& project) {
    admissions_->Reserve({.key = Key(uid), .gang = Gang(uid, project)},
                         {.on_grant = [this, uid](Grant grant) {
                           order_.push_back(uid);
                           grants_[uid] = std::move(grant);
                         }});
  }
  void Settle() {
    loop_.context.restart();
    loop_.context.poll();
  }
  /// The running job runs this long, then ends.
  void EndAfter(std::chrono::seconds time) {
    clock_.now += time;
    admissions_->Release(Key(order_.back()));
    Settle();
  }
  std::string Reason(std::int64_t uid) { return admissions_->WaitOf(Key(uid)).value().reason; }

  Loop loop_;
  StandingClock clock_;
  placement::Quotas quotas_;
  std::unique_ptr<LocalEngine> engine_;
  std::optional<Admissions> admissions_;
  std::vector<std::int64_t> order_;
  std::map<std::int64_t, Grant> grants_;
};

TEST_F(SharesTest, WhoUsedLessIsNextAndTheReasonSaysSo) {
  Make();
  for (const std::int64_t uid : {1, 2, 3}) Reserve(uid, "a");
  for (const std::int64_t uid : {4, 5}) Reserve(uid, "b");
  Settle();
  EXPECT_THAT(order_, ElementsAre(1));
  clock_.now += std::chrono::minutes(10);
  EXPECT_THAT(Reason(4), HasSubstr("are in use by j1."));
  EXPECT_EQ(Reason(2),
            "Waiting for its turn: 1 job before it, j4 is next. Next is project b: it used 0 % of the recent "
            "CPU time, yours 100 %.");
  EXPECT_EQ(Reason(5), "Waiting for its turn: 2 jobs before it, j4 is next.") << "its own project's";
  EndAfter(std::chrono::seconds(0));
  EXPECT_THAT(order_, ElementsAre(1, 4));
  EndAfter(std::chrono::minutes(2));
  EXPECT_THAT(order_, ElementsAre(1, 4, 5)) << "2 minutes are less than 10";
  EndAfter(std::chrono::minutes(30));
  EXPECT_THAT(order_, ElementsAre(1, 4, 5, 2)) << "32 are more";
}

TEST_F(SharesTest, WeightsAreSaidWhereTheyDiffer) {
  Make({{"b", 3}});
  Reserve(1, "a");
  Reserve(2, "a");
  Reserve(4, "b");
  Settle();
  clock_.now += std::chrono::minutes(10);
  EXPECT_THAT(Reason(2), HasSubstr("it used 0 % (weight 3) of the recent CPU time, yours 100 % (weight 1)."));
}

TEST_F(SharesTest, OthersNamesCanBeKeptFromReasons) {
  Make({}, {.others = false});
  Reserve(1, "a");
  Reserve(2, "a");
  Reserve(4, "b");
  Settle();
  EXPECT_THAT(Reason(4), HasSubstr("are in use by a job of another project."));
  EXPECT_THAT(Reason(2), HasSubstr("a job of another project is next. Next is another project: it used"));
}

TEST_F(SharesTest, UseIsToldOfAndGoesOnInTheNextServer) {
  Make();
  int told = 0;
  engine_->shares().OnUse([&told] { ++told; });
  Reserve(1, "a");
  Settle();
  EndAfter(std::chrono::minutes(10));
  EXPECT_EQ(told, 1);
  const auto use = engine_->shares().Use();
  ASSERT_EQ(use.size(), 1);
  EXPECT_NEAR(use.at("a").cpu_seconds, 2'400, 10);
  Make();
  engine_->shares().Restore(use, clock_.now);
  Reserve(7, "c");  // starts
  Settle();
  Reserve(2, "a");
  Reserve(4, "b");
  Settle();
  EndAfter(std::chrono::seconds(1));
  EXPECT_EQ(order_.back(), 4) << "b used nothing";
}

TEST_F(SharesTest, AJobThatRanOnMeanwhileCounts) {
  Make();
  Reserve(1, "a");
  Settle();
  Grant grant = grants_.at(1);
  Make();
  placement::Gang gang = Gang(1, "a");
  gang.start_time = clock_.now;
  clock_.now += std::chrono::minutes(10);
  admissions_->Reserve({.key = Key(1), .gang = gang, .granted = grant}, {});
  EXPECT_NEAR(engine_->shares().Use().at("a").cpu_seconds, 2'400, 10);
}

TEST_F(SharesTest, QuotasHoldBackAndTheMachineSaysWhoHasIt) {
  quotas_ = placement::Quotas::Parse(std::vector<std::string>{"user:a:jobs=0", "project:b:jobs=1"}).value();
  Make();
  Reserve(1, "a");
  Reserve(2, "b");
  Settle();
  EXPECT_THAT(order_, ElementsAre(2));
  EXPECT_THAT(Reason(1), HasSubstr("the quota user:a:jobs=0 allows user a no more than 0."));
  const LocalEngine::MachineUse use = engine_->Occupancy();
  EXPECT_EQ(use.cpus_held, 4);
  EXPECT_EQ(use.memory_bytes_held, 10);
}

}  // namespace
}  // namespace trainyard::engine
