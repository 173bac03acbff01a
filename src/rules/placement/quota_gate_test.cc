#include "rules/placement/quota_gate.h"

#include <gmock/gmock.h>

#include <map>

#include "rules/placement/plan.h"
#include "rules/placement/queue.h"

namespace trainyard::placement {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

constexpr Capacity kHuge{.mode = Capacity::Mode::kShare, .cpus = 1000, .memory_bytes = 1};

Gang Make(std::int64_t uid, int gpus, const std::string& project = "p", const std::string& creator = "") {
  Gang gang{.uid = uid,
            .project = project,
            .creator = creator,
            .job_id = "job_" + std::to_string(uid),
            .create_time = SysTime(std::chrono::seconds(uid)),
            .replicas = {}};
  gang.replicas.push_back({.machine_type = "n1-standard-4",
                           .accelerator = gpus > 0 ? AcceleratorConfig::NVIDIA_TESLA_T4
                                                   : AcceleratorConfig::ACCELERATOR_TYPE_UNSPECIFIED,
                           .accelerator_count = gpus});
  return gang;
}

class QuotaGateTest : public testing::Test {
 protected:
  void Limit(std::vector<std::string> texts) { quotas_ = Quotas::Parse(texts).value(); }
  void Run(const Gang& gang) {
    running_.push_back(gang);
    const auto gift = devices_.Choose(gang);
    ASSERT_TRUE(gift);
    devices_.Take(std::to_string(gang.uid), LabelOf(gang), *gift);
  }
  Plan PlanFor(const std::vector<Gang>& waiting) {
    Queue queue;
    for (const Gang& gang : waiting) queue.Add(gang);
    QuotaGate gate(quotas_, kLocalEngine, naming_);
    for (const Gang& gang : running_) gate.Take(gang, devices_.DemandOf(gang));
    return PlanAdmissions(kHuge, running_, queue.Walk(), devices_, {.quotas = gate, .naming = naming_});
  }
  static std::vector<std::int64_t> Admitted(const Plan& plan) {
    std::vector<std::int64_t> uids;
    for (const Plan::Admission& one : plan.admitted) uids.push_back(one.uid);
    return uids;
  }

  Quotas quotas_;
  Naming naming_;
  std::vector<Gang> running_;
  DevicePool devices_{ParseDeclaredDevices("nvidia-tesla-t4=8").value(), AcceleratorMap()};
};

TEST_F(QuotaGateTest, SaysWhichQuotaAndWhoHoldsWhat) {
  Limit({"project:p:gpus=4"});
  Run(Make(1, 3));
  const Plan plan = PlanFor({Make(2, 2)});
  ASSERT_EQ(plan.blocked.size(), 1);
  EXPECT_EQ(
      plan.blocked[0].shortage,
      (Shortage{"Waiting for 2 GPUs: 3 of the 4 that the quota project:p:gpus=4 allows project p are in "
                "use by job_1.",
                "It starts when job_1 has ended."}));
  EXPECT_FALSE(plan.blocked[0].blocks_all);
}

TEST_F(QuotaGateTest, HoldsBackOnlyWhoDrawsOnTheSameQuota) {
  Limit({"project:p:gpus=4"});
  Run(Make(1, 3));
  EXPECT_THAT(Admitted(PlanFor({Make(2, 2), Make(3, 1), Make(4, 0), Make(5, 2, "q")})),
              UnorderedElementsAre(4, 5))
      << "3 would fit, and 2 would never";
}

TEST_F(QuotaGateTest, CountsWhatThePlanItselfGives) {
  Limit({"project:p:jobs=2"});
  EXPECT_THAT(Admitted(PlanFor({Make(1, 0), Make(2, 0), Make(3, 0), Make(4, 0, "q")})),
              UnorderedElementsAre(1, 2, 4));
}

TEST_F(QuotaGateTest, AskingForMoreThanTheQuotaBlocksNobody) {
  Limit({"project:p:nvidia-tesla-t4=2"});
  const Plan plan = PlanFor({Make(1, 4), Make(2, 2)});
  EXPECT_THAT(Admitted(plan), ElementsAre(2));
  EXPECT_EQ(plan.blocked[0].shortage.reason,
            "Waiting for a larger quota: the job asks for 4 nvidia-tesla-t4, and the quota "
            "project:p:nvidia-tesla-t4=2 allows project p no more than 2.");
}

TEST_F(QuotaGateTest, PrincipalsHaveTheirOwnInAllProjects) {
  Limit({"user:*:jobs=1"});
  Run(Make(1, 0, "p", "user:ann"));
  const Plan plan = PlanFor({Make(2, 0, "q", "user:ann"), Make(3, 0, "q", "user:bob"), Make(4, 0, "q")});
  EXPECT_THAT(Admitted(plan), ElementsAre(3, 4)) << "nobody was asked who created 4";
  EXPECT_EQ(
      plan.blocked[0].shortage.reason,
      "Waiting for 1 job: 1 of the 1 that the quota user:*:jobs=1 allows user ann are in use by job_1.");
  naming_.others = false;
  EXPECT_EQ(
      PlanFor({Make(2, 0, "q", "user:ann")}).blocked[0].shortage,
      (Shortage{"Waiting for 1 job: 1 of the 1 that the quota user:*:jobs=1 allows user ann are in use by "
                "a job of another project.",
                "It starts when a job of another project has ended."}));
}

TEST_F(QuotaGateTest, WhatIsReturnedIsFree) {
  Limit({"project:p:jobs=1", "project:p:gpus=4"});
  QuotaGate gate(quotas_, kLocalEngine, naming_);
  Gang first = Make(1, 3);
  Gang second = Make(2, 1);
  first.job_id = second.job_id = "tuning";
  const Gang other = Make(3, 4);
  for (const Gang& trial : {first, second}) gate.Take(trial, devices_.DemandOf(trial));
  gate.Return(first, devices_.DemandOf(first));
  EXPECT_EQ(gate.Check(other, devices_.DemandOf(other))->key, (QuotaGate::Key{"project:p", "jobs"}))
      << "a trial still has room";
  EXPECT_EQ(gate.Check(first, devices_.DemandOf(first)), std::nullopt) << "another trial of the same job";
  gate.Return(second, devices_.DemandOf(second));
  EXPECT_FALSE(gate.Check(other, devices_.DemandOf(other)));
}

TEST_F(QuotaGateTest, CountsOneEngine) {
  Limit({"project:p:jobs@slurm=0"});
  EXPECT_TRUE(QuotaGate(quotas_, kLocalEngine, naming_).is_open());
  const QuotaGate there(quotas_, kSlurmEngine, naming_);
  EXPECT_TRUE(there.Check(Make(1, 0), {})->is_final);
}

TEST_F(QuotaGateTest, TrialsOfOneJobAreOneJob) {
  Limit({"project:p:jobs=1"});
  const auto trial = [](std::int64_t uid) {
    Gang gang = Make(uid, 0);
    gang.job_id = "tuning";
    return gang;
  };
  Run(trial(1));
  EXPECT_THAT(Admitted(PlanFor({Make(2, 0), trial(3), trial(4), Make(5, 0)})), ElementsAre(3, 4));
}

}  // namespace
}  // namespace trainyard::placement
