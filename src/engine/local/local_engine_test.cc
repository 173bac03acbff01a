#include "engine/local/local_engine.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "engine/admissions.h"
#include "engine/testing/loop.h"

namespace trainyard::engine {
namespace {

using placement::Capacity;
using placement::kLeasePortFirst;
using placement::kLeasePortLast;
using testing::HasSubstr;
using testing::SizeIs;

constexpr Capacity kHuge{.mode = Capacity::Mode::kShare, .cpus = 100'000, .memory_bytes = 1 << 30};
constexpr std::int64_t kGigabyte = std::int64_t{1} << 30;

placement::Gang MakeGang(std::int64_t uid, int replicas) {
  placement::Gang gang;
  gang.uid = uid;
  gang.job_id = "j" + std::to_string(uid);
  gang.create_time = SysTime(std::chrono::seconds(uid));
  for (int i = 0; i < replicas; ++i) {
    gang.replicas.push_back({.machine_type = "n1-standard-4",
                             .cpus = 4,
                             .memory_bytes = 15 * kGigabyte,
                             .type = i == 0 ? replica::v1::MASTER : replica::v1::WORKER});
  }
  return gang;
}

class LocalEngineTest : public testing::Test {
 protected:
  void Make(Capacity capacity, PortLeases::Probe probe = [](int) { return true; }) {
    MakeWith({.capacity = capacity, .probe = std::move(probe)});
  }
  void MakeWith(LocalEngine::Options options) {
    admissions_.reset();
    engine_.emplace(loop_.context.get_executor(), std::move(options));
    admissions_.emplace(
        loop_.context.get_executor(),
        Admissions::Options{.rooms = {{.name = placement::kLocalEngine, .engine = *engine_}}});
  }
  static ReservationKey Key(std::int64_t uid) { return {.job_uid = uid, .try_number = 1}; }
  void Reserve(placement::Gang gang, std::optional<Grant> granted = std::nullopt) {
    const std::int64_t uid = gang.uid;
    admissions_->Reserve({.key = Key(uid), .gang = std::move(gang), .granted = std::move(granted)},
                         {.on_grant = [this, uid](Grant grant) {
                           EXPECT_TRUE(admitted_.emplace(uid, std::move(grant)).second) << "admitted twice";
                         }});
  }
  std::optional<placement::Wait> WaitOf(std::int64_t uid) { return admissions_->WaitOf(Key(uid)); }
  /// Runs everything that is ready.
  void Settle() {
    loop_.context.restart();
    loop_.context.poll();
  }
  std::multiset<int> Ports() const {
    std::multiset<int> ports;
    for (const auto& [uid, grant] : admitted_) {
      for (const Slot& slot : grant.slots()) ports.insert(slot.port());
    }
    return ports;
  }

  Loop loop_;
  std::optional<LocalEngine> engine_;
  std::optional<Admissions> admissions_;
  std::map<std::int64_t, Grant> admitted_;
};

TEST_F(LocalEngineTest, IsolatedNetworksNeedNoPortOfTheMachine) {
  const auto taken = [](int) { return false; };
  MakeWith({.capacity = kHuge, .probe = taken, .network = replica::v1::Manifest::ISOLATED});
  Reserve(MakeGang(1, 252));
  Reserve(MakeGang(2, 1));
  Settle();
  ASSERT_THAT(admitted_, SizeIs(2));
  const auto& slots = admitted_.at(1).slots();
  EXPECT_EQ(slots[0].address(), "10.77.1.1");
  EXPECT_EQ(slots[249].address(), "10.77.1.250");
  EXPECT_EQ(slots[250].address(), "10.77.2.1");
  EXPECT_EQ(slots[251].port(), 2222);
  EXPECT_EQ(admitted_.at(2).slots(0).address(), "10.77.1.1") << "its switch is another";
}

TEST_F(LocalEngineTest, ThreeHundredJobsHavePortsOfTheirOwn) {
  Make(kHuge);
  for (int uid = 1; uid <= 300; ++uid) Reserve(MakeGang(uid, 3));
  EXPECT_TRUE(admitted_.empty()) << "not in the caller's turn";
  Settle();
  EXPECT_THAT(admitted_, SizeIs(300));
  const std::multiset<int> ports = Ports();
  EXPECT_EQ(std::set<int>(ports.begin(), ports.end()).size(), 900U);
  EXPECT_GE(*ports.begin(), kLeasePortFirst);
  EXPECT_LE(*ports.rbegin(), kLeasePortLast);
}

TEST_F(LocalEngineTest, LeasesBeginWhereTheyAreSpreadTo) {
  MakeWith({.capacity = kHuge,
            .probe = [](int) { return true; },
            .lease_spread = static_cast<std::uint32_t>(kLeasePortLast - kLeasePortFirst)});
  Reserve(MakeGang(1, 2));
  Settle();
  EXPECT_EQ(Ports(), (std::multiset<int>{kLeasePortFirst, kLeasePortLast}));
}

TEST_F(LocalEngineTest, APortIsLeasedAgainOnlyAfterItsJobHasLeft) {
  Make(kHuge);
  const int all = kLeasePortLast - kLeasePortFirst + 1;
  std::int64_t uid = 0;
  for (int left = all; left > 0; left -= 64) Reserve(MakeGang(++uid, std::min(left, 64)));
  Settle();
  EXPECT_EQ(std::ssize(Ports()), all);
  Reserve(MakeGang(1000, 1));
  Reserve(MakeGang(1001, 1));
  Settle();
  ASSERT_FALSE(admitted_.contains(1000));
  EXPECT_EQ(WaitOf(1000)->position, 1);
  EXPECT_EQ(WaitOf(1001)->position, 2);
  EXPECT_THAT(WaitOf(1000)->reason, HasSubstr("no free port"));
  std::set<int> freed;
  for (const Slot& slot : admitted_.at(7).slots()) freed.insert(slot.port());
  admissions_->Release(Key(7));
  Settle();
  ASSERT_TRUE(admitted_.contains(1000));
  EXPECT_TRUE(freed.contains(admitted_.at(1000).slots(0).port()));
  EXPECT_FALSE(WaitOf(1000));
}

TEST_F(LocalEngineTest, PortsOfOtherProgramsAreSkippedAndComeBack) {
  bool all_taken = true;
  Make(kHuge, [&all_taken](int port) { return !all_taken && port % 2 == 1; });
  Reserve(MakeGang(1, 2));
  Settle();
  EXPECT_TRUE(admitted_.empty());
  all_taken = false;
  ASSERT_TRUE(loop_.RunUntil([this] { return admitted_.size() == 1; })) << "without anybody coming or going";
  for (const int port : Ports()) EXPECT_EQ(port % 2, 1);
}

TEST_F(LocalEngineTest, APartlyServedGangGivesItsPortsBack) {
  int probes = 0;
  Make(kHuge, [&probes](int port) { return ++probes > 0 && port < kLeasePortFirst + 2; });
  Reserve(MakeGang(1, 3));
  Settle();
  EXPECT_TRUE(admitted_.empty());
  admissions_->Release(Key(1));
  Reserve(MakeGang(2, 2));
  Settle();
  EXPECT_THAT(admitted_, SizeIs(1));
}

TEST_F(LocalEngineTest, LeasedPortsAreKeptOverServers) {
  Make(kHuge);
  Reserve(MakeGang(1, 3));
  Settle();
  const Grant previous = admitted_.at(1);
  admitted_.clear();
  Make(kHuge);
  Reserve(MakeGang(2, 3));  // first, in the same turn
  Reserve(MakeGang(1, 3), previous);
  Settle();
  ASSERT_THAT(admitted_, SizeIs(1));
  for (const Slot& slot : previous.slots()) EXPECT_FALSE(Ports().contains(slot.port()));
}

TEST_F(LocalEngineTest, StrictCapacityQueues) {
  Make({.mode = Capacity::Mode::kStrict, .cpus = 10, .memory_bytes = 1000 * kGigabyte});
  for (int uid = 1; uid <= 4; ++uid) Reserve(MakeGang(uid, 1));
  Settle();
  EXPECT_THAT(admitted_, SizeIs(2));
  EXPECT_EQ(WaitOf(3)->position, 1);
  EXPECT_EQ(WaitOf(4)->position, 2);
  EXPECT_FALSE(WaitOf(3)->reason.empty());
  admissions_->Release(Key(1));
  Settle();
  EXPECT_TRUE(admitted_.contains(3));
  EXPECT_EQ(WaitOf(4)->position, 1);
  admissions_->Release(Key(4));
  EXPECT_FALSE(WaitOf(4));
  admissions_->Release(Key(2));
  Settle();
  EXPECT_FALSE(admitted_.contains(4)) << "it left";
}

TEST_F(LocalEngineTest, AWithdrawnJobIsNotAdmittedAndFreesNothing) {
  Make({.mode = Capacity::Mode::kStrict, .cpus = 4, .memory_bytes = 16 * kGigabyte});
  Reserve(MakeGang(1, 1));
  Settle();
  Reserve(MakeGang(2, 1));
  Reserve(MakeGang(3, 1));
  Settle();
  admissions_->Detach(Key(1));
  admissions_->Detach(Key(2));
  Settle();
  EXPECT_THAT(admitted_, SizeIs(1));
  admissions_->Release(Key(1));
  Settle();
  EXPECT_TRUE(admitted_.contains(3));
  EXPECT_FALSE(admitted_.contains(2));
}

TEST_F(LocalEngineTest, AJobWaitsForAGpuThatAnswersAgain) {
  const placement::Device gpu{.type = "nvidia-l4", .id = "GPU-a", .files = {"/dev/nvidia0"}};
  const std::vector<placement::DeviceSigns> healthy = {{.device = gpu}};
  MakeWith(
      {.capacity = kHuge, .probe = [](int) { return true; }, .devices = placement::DevicePool({gpu}, {})});
  const auto asking = [](std::int64_t uid) {
    placement::Gang gang = MakeGang(uid, 1);
    gang.replicas[0].accelerator = ml::v1::AcceleratorConfig::NVIDIA_TESLA_T4;
    gang.replicas[0].accelerator_count = 1;
    return gang;
  };
  Reserve(asking(1));
  Settle();
  ASSERT_TRUE(admitted_.contains(1));
  const auto lost = engine_->ObserveDevices({});
  ASSERT_THAT(lost, SizeIs(1));
  EXPECT_EQ(lost[0].holder, "1");
  EXPECT_EQ(engine_->Occupancy().devices[0].trouble, "it does not answer");
  admissions_->Release(Key(1));
  Reserve(asking(2));
  Settle();
  EXPECT_FALSE(admitted_.contains(2));
  EXPECT_THAT(WaitOf(2)->reason, HasSubstr("Out of service: GPU-a (it does not answer)"));
  engine_->ObserveDevices(healthy);
  Settle();
  EXPECT_FALSE(admitted_.contains(2)) << "job 1 holds it until its attempts are proven to be gone";
  admissions_->Prove(Key(1));
  Settle();
  EXPECT_TRUE(admitted_.contains(2));
}

TEST_F(LocalEngineTest, NothingHappensOnceItIsGone) {
  Make(kHuge);
  Reserve(MakeGang(1, 1));
  admissions_.reset();
  engine_.reset();
  Settle();
  EXPECT_TRUE(admitted_.empty());
}

}  // namespace
}  // namespace trainyard::engine
