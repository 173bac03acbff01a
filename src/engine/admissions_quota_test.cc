#include "engine/admissions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/fake/fake_engine.h"
#include "engine/testing/loop.h"

namespace trainyard::engine {
namespace {

using ml::v1::AcceleratorConfig;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kRoom = 3;  ///< of the cluster: further gangs wait in its own queue

class AdmissionsQuotaTest : public testing::Test {
 protected:
  struct Told {
    std::vector<Grant> grants;
    int waits = 0;
  };

  void Limit(std::vector<std::string> texts, placement::Naming naming = {}) {
    quotas_ = placement::Quotas::Parse(texts).value();
    Serve(naming);
  }
  /// Starts a server, after removing the previous one.
  void Serve(placement::Naming naming = {}) {
    admissions_.reset();
    placement::QuotaGate gate(quotas_, placement::kSlurmEngine, naming);
    admissions_.emplace(
        loop_.context.get_executor(),
        Admissions::Options{
            .rooms = {{.name = placement::kSlurmEngine, .engine = fake_, .quotas = std::move(gate)}},
            .naming = naming});
  }
  void SetUp() override {
    fake_.AddNode("node", kRoom);
    Limit({"project:p:gpus=4", "project:*:jobs@slurm=2", "project:*:jobs@local=0"});
  }
  static placement::Gang Job(std::int64_t uid, int gpus = 0, const std::string& project = "p") {
    placement::Gang gang{.uid = uid,
                         .project = project,
                         .job_id = "j" + std::to_string(uid),
                         .create_time = SysTime(std::chrono::seconds(uid)),
                         .replicas = {{}}};
    if (gpus == 0) return gang;
    gang.replicas[0].accelerator = AcceleratorConfig::NVIDIA_TESLA_T4;
    gang.replicas[0].accelerator_count = gpus;
    return gang;
  }
  std::variant<Grant, Pending> Reserve(placement::Gang gang, std::optional<Grant> granted = {},
                                       int try_number = 1) {
    Told& told = told_[gang.uid];
    const ReservationKey key{.job_uid = gang.uid, .try_number = try_number};
    return admissions_->Reserve(
        {.key = key, .gang = std::move(gang), .granted = std::move(granted)},
        {.on_grant = [&told](Grant grant) { told.grants.push_back(std::move(grant)); },
         .on_wait = [&told] { ++told.waits; },
         .on_revoked = {}});
  }
  void Release(std::int64_t uid, int try_number = 1) {
    admissions_->Release({.job_uid = uid, .try_number = try_number});
  }
  void Settle() {
    loop_.context.restart();
    loop_.context.poll();
  }
  std::string ReasonOf(std::int64_t uid, int try_number = 1) {
    const auto wait = admissions_->WaitOf({.job_uid = uid, .try_number = try_number});
    return wait ? wait->reason : "";
  }
  std::vector<std::int64_t> Granted() {
    std::vector<std::int64_t> uids;
    for (const auto& [uid, told] : told_) {
      if (!told.grants.empty()) uids.push_back(uid);
    }
    return uids;
  }

  Loop loop_;
  placement::Quotas quotas_;
  FakeEngine fake_{loop_.context.get_executor()};
  std::optional<Admissions> admissions_;
  std::map<std::int64_t, Told> told_;
};

constexpr const char* kTwoJobs =
    "Waiting for 1 job: 2 of the 2 that the quota project:*:jobs@slurm=2 allows project p are in use by ";

TEST_F(AdmissionsQuotaTest, WhoIsOverAQuotaWaitsHereAndGoesWhenItIsFree) {
  Reserve(Job(1));
  Reserve(Job(2));
  const auto answer = Reserve(Job(3));
  ASSERT_TRUE(std::holds_alternative<Pending>(answer));
  EXPECT_EQ(told_[3].waits, 0) << "not in the turn of the call";
  Settle();
  EXPECT_THAT(Granted(), ElementsAre(1, 2)) << "although there is room for a third";
  EXPECT_EQ(told_[3].waits, 1);
  EXPECT_EQ(admissions_->WaitOf({.job_uid = 3, .try_number = 1}),
            (placement::Wait{.position = 1,
                             .reason = kTwoJobs + std::string("j1, j2."),
                             .unblock = "It starts when enough of these jobs have ended."}));
  Release(1);
  Settle();
  EXPECT_THAT(Granted(), ElementsAre(1, 2, 3));
  EXPECT_EQ(ReasonOf(3), "");
}

TEST_F(AdmissionsQuotaTest, WhoDrawsOnAnotherQuotaIsNotHeldBack) {
  Reserve(Job(1, 4));
  Reserve(Job(2, 1));
  Reserve(Job(3, 1));
  Reserve(Job(4));
  Reserve(Job(5, 1, "q"));
  Settle();
  EXPECT_THAT(Granted(), ElementsAre(1, 4, 5));
  EXPECT_THAT(ReasonOf(2), testing::StartsWith("Waiting for 1 GPU: 4 of the 4"));
  EXPECT_THAT(ReasonOf(3), testing::StartsWith("Waiting for 1 job: 2 of the 2"))
      << "the jobs are used up, too";
}

TEST_F(AdmissionsQuotaTest, ALaterOneThatWouldFitWaitsForItsTurn) {
  Limit({"project:p:gpus=4"});
  Reserve(Job(1, 2));
  Reserve(Job(2, 3));
  Reserve(Job(3, 1));
  Settle();
  EXPECT_THAT(Granted(), ElementsAre(1));
  EXPECT_EQ(admissions_->WaitOf({.job_uid = 3, .try_number = 1}),
            (placement::Wait{.position = 2,
                             .reason = "Waiting for its turn: j2 is before it.",
                             .unblock = "It is next when j2 has started or is cancelled.",
                             .is_turn = true}));
  Release(2);
  Settle();
  EXPECT_THAT(Granted(), ElementsAre(1, 3));
}

TEST_F(AdmissionsQuotaTest, PriorityGoesBeforeAge) {
  Reserve(Job(1));
  Reserve(Job(2));
  Reserve(Job(3));
  placement::Gang urgent = Job(4);
  urgent.priority = 100;
  Settle();
  Reserve(std::move(urgent));
  Settle();
  Release(1);
  Settle();
  EXPECT_THAT(Granted(), ElementsAre(1, 2, 4));
  EXPECT_EQ(ReasonOf(3), kTwoJobs + std::string("j2, j4."));
  EXPECT_EQ(told_[3].waits, 3) << "its reason, its turn behind the urgent one, and the new reason";
}

TEST_F(AdmissionsQuotaTest, WhatWaitsInTheClusterDrawsOnItsQuota) {
  fake_.Refuse("The cluster is closed.");
  for (const std::int64_t uid : {1, 2, 3}) Reserve(Job(uid));
  Settle();
  EXPECT_EQ(ReasonOf(1), "The cluster is closed.");
  EXPECT_EQ(ReasonOf(3), kTwoJobs + std::string("j1, j2."));
  Release(1);
  Settle();
  EXPECT_EQ(ReasonOf(3), "The cluster is closed.");
}

TEST_F(AdmissionsQuotaTest, AskingForMoreThanTheQuotaBlocksNobody) {
  Reserve(Job(1, 5));
  Reserve(Job(2, 4));
  Settle();
  EXPECT_THAT(Granted(), ElementsAre(2));
  EXPECT_EQ(ReasonOf(1),
            "Waiting for a larger quota: the job asks for 5 GPUs, and the quota project:p:gpus=4 allows "
            "project p no more than 4.");
}

TEST_F(AdmissionsQuotaTest, RoomOnRecordCountsAtOnceWhoeverAsksFirst) {
  Reserve(Job(1));
  Reserve(Job(2));
  Settle();
  const Grant first = told_[1].grants.at(0);
  const Grant second = told_[2].grants.at(0);
  told_.clear();
  Serve();
  Reserve(Job(3));
  EXPECT_TRUE(std::holds_alternative<Grant>(Reserve(Job(1), first)));
  EXPECT_TRUE(std::holds_alternative<Grant>(Reserve(Job(2), second)));
  Settle();
  EXPECT_THAT(Granted(), IsEmpty());
  EXPECT_EQ(ReasonOf(3), kTwoJobs + std::string("j1, j2."));
}

TEST_F(AdmissionsQuotaTest, WhatThePreviousServerHandedOnStaysInTheCluster) {
  fake_.Refuse("The cluster is closed.");
  for (const std::int64_t uid : {1, 2}) Reserve(Job(uid));
  Settle();
  Serve();
  placement::Gang urgent = Job(3);
  urgent.priority = 100;
  Reserve(std::move(urgent));
  EXPECT_EQ(std::get<Pending>(Reserve(Job(1))).reason, "The cluster is closed.") << "in the turn of the call";
  Reserve(Job(2));
  Settle();
  EXPECT_EQ(ReasonOf(3), kTwoJobs + std::string("j1, j2."));
}

TEST_F(AdmissionsQuotaTest, ALostGangsNextTryDrawsOnItsQuotaOnce) {
  for (const std::int64_t uid : {1, 2, 3}) Reserve(Job(uid));
  Settle();
  fake_.LoseNode("node");
  fake_.AddNode("other", kRoom);
  Reserve(Job(1), {}, 2);
  Settle();
  ASSERT_EQ(told_[1].grants.size(), 2U) << "it is older than the third";
  EXPECT_EQ(told_[1].grants[1].try_number(), 2);
  EXPECT_EQ(ReasonOf(3), kTwoJobs + std::string("j1, j2."));
  Release(1, 2);
  Settle();
  EXPECT_EQ(told_[3].grants.size(), 1U);
}

TEST_F(AdmissionsQuotaTest, ADetachedOneIsNotTold) {
  for (const std::int64_t uid : {1, 2, 3, 4}) Reserve(Job(uid));
  Settle();
  const int waits = told_[3].waits;
  admissions_->Detach({.job_uid = 3, .try_number = 1});
  Release(1);
  Settle();
  EXPECT_THAT(Granted(), ElementsAre(1, 2, 4));
  EXPECT_EQ(told_[3].waits, waits);
}

TEST_F(AdmissionsQuotaTest, OtherProjectsJobsAreNotNamedWhereTheyAreKeptApart) {
  Limit({"user:*:gpus=2"}, {.others = false});
  for (const auto& [uid, project] : {std::pair(1, "p"), std::pair(2, "q")}) {
    placement::Gang gang = Job(uid, 2, project);
    gang.creator = "user:ann";
    Reserve(std::move(gang));
  }
  Settle();
  EXPECT_EQ(ReasonOf(2),
            "Waiting for 2 GPUs: 2 of the 2 that the quota user:*:gpus=2 allows user ann are in use by a job "
            "of another project.");
}

TEST_F(AdmissionsQuotaTest, WithoutQuotasOfTheEngineItPassesAllOn) {
  Limit({"project:*:jobs@local=0", "project:*:unfinished-jobs=1"});
  for (const std::int64_t uid : {1, 2, 3, 4}) Reserve(Job(uid));
  EXPECT_EQ(fake_.WaitOf({.job_uid = 4, .try_number = 1})->position, 4) << "in the turn of the call";
  Settle();
  EXPECT_THAT(Granted(), ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace trainyard::engine
