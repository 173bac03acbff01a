#include "control/admissions.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "async/unique_fd.h"
#include "engine/testing/loop.h"
#include "wire/time.h"

namespace trainyard::control {
namespace {

using placement::Capacity;
using placement::kLeasePortFirst;
using placement::kLeasePortLast;
using testing::HasSubstr;
using testing::SizeIs;

constexpr Capacity kHuge{.mode = Capacity::Mode::kShare, .cpus = 100'000, .memory_bytes = 1 << 30};
constexpr std::int64_t kGigabyte = std::int64_t{1} << 30;

v1::JobRecord MakeRecord(std::int64_t uid, int replicas) {
  v1::JobRecord record;
  record.set_uid(uid);
  record.mutable_job()->set_job_id("j" + std::to_string(uid));
  *record.mutable_job()->mutable_create_time() = wire::ToProto(SysTime(std::chrono::seconds(uid)));
  for (int i = 0; i < replicas; ++i) {
    v1::ReplicaRecord& replica = *record.add_replicas();
    replica.mutable_id()->set_type(i == 0 ? replica::v1::MASTER : replica::v1::WORKER);
    replica.mutable_id()->set_index(std::max(i - 1, 0));
    replica.set_machine_type("n1-standard-4");
    replica.set_cpus(4);
    replica.set_memory_bytes(15 * kGigabyte);
  }
  return record;
}

class AdmissionsTest : public testing::Test {
 protected:
  void Make(Capacity capacity, Admissions::PortProbe probe = [](int) { return true; }) {
    admissions_.emplace(loop_.context.get_executor(), capacity, std::move(probe));
  }
  void Enqueue(const v1::JobRecord& record) {
    admissions_->Enqueue(record, [this, uid = record.uid()](v1::Event::Admitted admission) {
      EXPECT_TRUE(admitted_.emplace(uid, std::move(admission)).second) << "admitted twice";
    });
  }
  /// Everything that is ready happens.
  void Settle() {
    loop_.context.restart();
    loop_.context.poll();
  }
  std::multiset<int> Ports() const {
    std::multiset<int> ports;
    for (const auto& [uid, admission] : admitted_) {
      for (const auto& endpoint : admission.endpoints()) ports.insert(endpoint.port());
    }
    return ports;
  }
  v1::JobRecord Admitted(v1::JobRecord record) {
    const v1::Event::Admitted& admission = admitted_.at(record.uid());
    for (int i = 0; i < record.replicas_size(); ++i)
      *record.mutable_replicas(i)->mutable_endpoint() = admission.endpoints(i);
    return record;
  }

  engine::Loop loop_;
  std::optional<Admissions> admissions_;
  std::map<std::int64_t, v1::Event::Admitted> admitted_;
};

TEST_F(AdmissionsTest, IsolatedNetworksNeedNoPortOfTheMachine) {
  const auto taken = [](int) { return false; };
  admissions_.emplace(loop_.context.get_executor(), kHuge, taken, replica::v1::Manifest::ISOLATED);
  Enqueue(MakeRecord(1, 252));
  Enqueue(MakeRecord(2, 1));
  Settle();
  ASSERT_THAT(admitted_, SizeIs(2));
  const auto& endpoints = admitted_.at(1).endpoints();
  EXPECT_EQ(endpoints[0].address(), "10.77.1.1");
  EXPECT_EQ(endpoints[249].address(), "10.77.1.250");
  EXPECT_EQ(endpoints[250].address(), "10.77.2.1");
  EXPECT_EQ(endpoints[251].port(), 2222);
  EXPECT_EQ(admitted_.at(2).endpoints(0).address(), "10.77.1.1") << "its switch is another";
}

TEST_F(AdmissionsTest, ThreeHundredJobsHavePortsOfTheirOwn) {
  Make(kHuge);
  for (int uid = 1; uid <= 300; ++uid) Enqueue(MakeRecord(uid, 3));
  EXPECT_TRUE(admitted_.empty()) << "not in the caller's turn";
  Settle();
  EXPECT_THAT(admitted_, SizeIs(300));
  const std::multiset<int> ports = Ports();
  EXPECT_EQ(std::set<int>(ports.begin(), ports.end()).size(), 900U);
  EXPECT_GE(*ports.begin(), kLeasePortFirst);
  EXPECT_LE(*ports.rbegin(), kLeasePortLast);
}

TEST_F(AdmissionsTest, LeasesBeginWhereTheyAreSpreadTo) {
  Make(kHuge);
  admissions_->SpreadLeases(kLeasePortLast - kLeasePortFirst);
  Enqueue(MakeRecord(1, 2));
  Settle();
  EXPECT_EQ(Ports(), (std::multiset<int>{kLeasePortFirst, kLeasePortLast}));
}

TEST_F(AdmissionsTest, APortIsLeasedAgainOnlyAfterItsJobHasLeft) {
  Make(kHuge);
  const int all = kLeasePortLast - kLeasePortFirst + 1;
  std::int64_t uid = 0;
  for (int left = all; left > 0; left -= 64) Enqueue(MakeRecord(++uid, std::min(left, 64)));
  Settle();
  EXPECT_EQ(std::ssize(Ports()), all);
  Enqueue(MakeRecord(1000, 1));
  Enqueue(MakeRecord(1001, 1));
  Settle();
  ASSERT_FALSE(admitted_.contains(1000));
  EXPECT_EQ(admissions_->WaitOf(1000)->position, 1);
  EXPECT_EQ(admissions_->WaitOf(1001)->position, 2);
  EXPECT_THAT(admissions_->WaitOf(1000)->reason, HasSubstr("no free port"));
  std::set<int> freed;
  for (const auto& endpoint : admitted_.at(7).endpoints()) freed.insert(endpoint.port());
  admissions_->Leave(7);
  Settle();
  ASSERT_TRUE(admitted_.contains(1000));
  EXPECT_TRUE(freed.contains(admitted_.at(1000).endpoints(0).port()));
  EXPECT_FALSE(admissions_->WaitOf(1000));
}

TEST_F(AdmissionsTest, PortsOfOtherProgramsAreSkippedAndComeBack) {
  bool all_taken = true;
  Make(kHuge, [&all_taken](int port) { return !all_taken && port % 2 == 1; });
  Enqueue(MakeRecord(1, 2));
  Settle();
  EXPECT_TRUE(admitted_.empty());
  all_taken = false;
  ASSERT_TRUE(loop_.RunUntil([this] { return admitted_.size() == 1; })) << "without anybody coming or going";
  for (const int port : Ports()) EXPECT_EQ(port % 2, 1);
}

TEST_F(AdmissionsTest, APartlyServedGangGivesItsPortsBack) {
  int probes = 0;
  Make(kHuge, [&probes](int port) { return ++probes > 0 && port < kLeasePortFirst + 2; });
  Enqueue(MakeRecord(1, 3));
  Settle();
  EXPECT_TRUE(admitted_.empty());
  admissions_->Leave(1);
  Enqueue(MakeRecord(2, 2));
  Settle();
  EXPECT_THAT(admitted_, SizeIs(1));
}

TEST_F(AdmissionsTest, OccupiedPortsAreKept) {
  Make(kHuge);
  Enqueue(MakeRecord(1, 3));
  Settle();
  const v1::JobRecord former = Admitted(MakeRecord(1, 3));
  admitted_.clear();
  Make(kHuge);
  Enqueue(MakeRecord(2, 3));  // first, in the same turn
  admissions_->Occupy(former);
  Settle();
  ASSERT_THAT(admitted_, SizeIs(1));
  for (const auto& endpoint : former.replicas()) EXPECT_FALSE(Ports().contains(endpoint.endpoint().port()));
}

TEST_F(AdmissionsTest, AJobWithoutEndpointsOccupiesNothing) {
  Make({.mode = Capacity::Mode::kStrict, .cpus = 4, .memory_bytes = 16 * kGigabyte});
  admissions_->Occupy(MakeRecord(1, 1));  // cancelled in the queue, by a former server
  Enqueue(MakeRecord(2, 1));
  Settle();
  EXPECT_THAT(admitted_, SizeIs(1));
}

TEST_F(AdmissionsTest, StrictCapacityQueues) {
  Make({.mode = Capacity::Mode::kStrict, .cpus = 10, .memory_bytes = 1000 * kGigabyte});
  for (int uid = 1; uid <= 4; ++uid) Enqueue(MakeRecord(uid, 1));
  Settle();
  EXPECT_THAT(admitted_, SizeIs(2));
  EXPECT_EQ(admissions_->WaitOf(3)->position, 1);
  EXPECT_EQ(admissions_->WaitOf(4)->position, 2);
  EXPECT_FALSE(admissions_->WaitOf(3)->reason.empty());
  admissions_->Leave(1);
  Settle();
  EXPECT_TRUE(admitted_.contains(3));
  EXPECT_EQ(admissions_->WaitOf(4)->position, 1);
  admissions_->Leave(4);
  EXPECT_FALSE(admissions_->WaitOf(4));
  admissions_->Leave(2);
  Settle();
  EXPECT_FALSE(admitted_.contains(4)) << "it left";
}

TEST_F(AdmissionsTest, AWithdrawnJobIsNotAdmittedAndFreesNothing) {
  Make({.mode = Capacity::Mode::kStrict, .cpus = 4, .memory_bytes = 16 * kGigabyte});
  Enqueue(MakeRecord(1, 1));
  Settle();
  Enqueue(MakeRecord(2, 1));
  Enqueue(MakeRecord(3, 1));
  Settle();
  admissions_->Withdraw(1);
  admissions_->Withdraw(2);
  Settle();
  EXPECT_THAT(admitted_, SizeIs(1));
  admissions_->Leave(1);
  Settle();
  EXPECT_TRUE(admitted_.contains(3));
  EXPECT_FALSE(admitted_.contains(2));
}

TEST_F(AdmissionsTest, NothingHappensOnceItIsGone) {
  Make(kHuge);
  Enqueue(MakeRecord(1, 1));
  admissions_.reset();
  Settle();
  EXPECT_TRUE(admitted_.empty());
}

TEST(IsPortFree, SeesAListenerOnAnyAddress) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(socket.get(), 1), 0);
  socklen_t size = sizeof address;
  ASSERT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const int port = ntohs(address.sin_port);
  EXPECT_FALSE(IsPortFree(port));
  socket.Reset();
  EXPECT_TRUE(IsPortFree(port));
}

}  // namespace
}  // namespace trainyard::control
