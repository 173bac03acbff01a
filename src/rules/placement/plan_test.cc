#include "rules/placement/plan.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "rules/placement/queue.h"

namespace trainyard::placement {
namespace {

constexpr std::int64_t kGb = std::int64_t{1} << 30;

Gang Make(std::int64_t uid, int replicas, int priority = 0, int age = 0) {
  Gang gang{.uid = uid,
            .job_id = "job_" + std::to_string(uid),
            .priority = priority,
            .create_time = SysTime{} - std::chrono::seconds{age},
            .replicas = {}};
  for (int i = 0; i < replicas; ++i) {
    gang.replicas.push_back({.machine_type = "n1-standard-4",
                             .cpus = 4,
                             .memory_bytes = 15 * kGb,
                             .type = i == 0 ? replica::v1::MASTER : replica::v1::WORKER});
  }
  return gang;
}

/// A plan, and its effect on the gangs that are not admitted.
struct Planned {
  std::vector<Plan::Admission> admitted;
  std::map<std::int64_t, Wait> waiting;
};

Planned PlanAll(const Capacity& capacity, const std::vector<Gang>& running, const std::vector<Gang>& waiting,
                const DevicePool& devices = {}) {
  Queue queue;
  for (const Gang& gang : waiting) queue.Add(gang);
  Plan plan = PlanAdmissions(capacity, running, queue.InOrder(), devices);
  for (const Plan::Admission& admitted : plan.admitted) queue.Take(admitted.uid);
  Planned planned{.admitted = std::move(plan.admitted), .waiting = {}};
  for (const Gang* gang : queue.InOrder())
    planned.waiting.emplace(gang->uid, queue.TurnOf(*gang, "the first"));
  for (const Plan::Blocked& blocked : plan.blocked) {
    Wait& wait = planned.waiting.at(blocked.uid);
    wait = {wait.position, blocked.shortage.reason, blocked.shortage.unblock};
  }
  return planned;
}

std::vector<std::int64_t> Uids(const Planned& plan) {
  std::vector<std::int64_t> uids;
  for (const Plan::Admission& admitted : plan.admitted) uids.push_back(admitted.uid);
  return uids;
}

using Uid = std::vector<std::int64_t>;
constexpr Capacity kTwoCpus{.mode = Capacity::Mode::kShare, .cpus = 2, .memory_bytes = 4 * kGb};
constexpr Capacity kStrict{.mode = Capacity::Mode::kStrict, .cpus = 8, .memory_bytes = 32 * kGb};

TEST(PlanAdmissions, OrdersByPriorityThenAgeThenUid) {
  const Planned plan =
      PlanAll(kTwoCpus, {},
              {Make(1, 1, 0, 5), Make(2, 1, 0, 9), Make(3, 1, 7, 0), Make(5, 1, 0, 5), Make(4, 1, 0, 5)});
  EXPECT_EQ(Uids(plan), (Uid{3, 2, 1, 4, 5}));
  EXPECT_TRUE(plan.waiting.empty());
}

TEST(PlanAdmissions, SharedMachineTakesFourReplicasPerCpu) {
  const Planned plan = PlanAll(kTwoCpus, {Make(1, 5)}, {Make(2, 3, 0, 2), Make(3, 1, 0, 1)});
  EXPECT_EQ(Uids(plan), (Uid{2}));
  EXPECT_EQ(plan.waiting.at(3).position, 1);
  EXPECT_EQ(plan.waiting.at(3).reason,
            "Waiting for a free place for 1 replica: 8 of 8 places are in use by job_1, job_2.");
}

TEST(PlanAdmissions, SaysWhatWasAskedAndGiven) {
  const Planned one = PlanAll(kTwoCpus, {}, {Make(1, 1)});
  EXPECT_EQ(
      one.admitted.at(0).notes,
      (std::vector<std::string>{
          "The job asks for 1 machine with 4 vCPUs and 15 GiB in all; it gets a share of this machine's "
          "2 CPUs and 4 GiB."}));
  const Planned many = PlanAll(kTwoCpus, {}, {Make(1, 9)});
  EXPECT_EQ(
      many.admitted.at(0).notes,
      (std::vector<std::string>{
          "The job asks for 9 machines with 36 vCPUs and 135 GiB in all; they share this machine's 2 CPUs "
          "and 4 GiB. No other job runs at the same time."}));
  const Capacity big{.mode = Capacity::Mode::kShare, .cpus = 64, .memory_bytes = 256 * kGb};
  EXPECT_TRUE(PlanAll(big, {}, {Make(1, 2)}).admitted.at(0).notes.empty())
      << "nothing to say: it gets what it asks for";
}

TEST(PlanAdmissions, AGangBiggerThanTheMachineRunsAlone) {
  EXPECT_EQ(Uids(PlanAll(kTwoCpus, {}, {Make(1, 9, 0, 2), Make(2, 1, 0, 1)})), (Uid{1}));
  const Planned blocked = PlanAll(kTwoCpus, {Make(3, 1)}, {Make(1, 9, 0, 2), Make(2, 1, 0, 1)});
  EXPECT_EQ(Uids(blocked), Uid{}) << "the small job behind it must not starve the big one";
  EXPECT_EQ(blocked.waiting.at(1),
            (Wait{1, "Waiting for a free place for 9 replicas: 1 of 8 places are in use by job_3.",
                  "It starts when job_3 has ended."}));
  EXPECT_EQ(blocked.waiting.at(2), (Wait{2, "Waiting for its turn: 1 job before it, job_1 is next.",
                                         "It moves up when job_1 starts or is cancelled.", true}));
}

TEST(PlanAdmissions, StrictGivesEveryReplicaItsMachine) {
  const Planned plan = PlanAll(kStrict, {Make(1, 1)}, {Make(2, 2, 0, 3), Make(3, 1, 0, 2)});
  EXPECT_EQ(Uids(plan), Uid{});
  EXPECT_EQ(plan.waiting.at(2).reason,
            "Waiting for 8 vCPUs and 30 GiB: 4 vCPUs and 15 GiB of 8 CPUs and 32 GiB are in use by job_1.");
  const Planned idle = PlanAll(kStrict, {}, {Make(2, 2, 0, 3), Make(3, 1, 0, 2)});
  EXPECT_EQ(Uids(idle), (Uid{2}));
  EXPECT_TRUE(idle.admitted.at(0).notes.empty());
}

TEST(PlanAdmissions, StrictSaysWhenTheMachineIsTooSmall) {  // recorded before the machine lost a CPU, say
  EXPECT_EQ(PlanAll(kStrict, {}, {Make(2, 3)}).waiting.at(2).reason,
            "The job asks for 12 vCPUs and 45 GiB; this machine has 8 CPUs and 32 GiB.");
}

TEST(PlanAdmissions, NamesFewOfManyUsers) {
  std::vector<Gang> running;
  for (int uid = 1; uid <= 8; ++uid) running.push_back(Make(uid, 1));
  EXPECT_EQ(
      PlanAll(kTwoCpus, running, {Make(9, 1)}).waiting.at(9).reason,
      "Waiting for a free place for 1 replica: 8 of 8 places are in use by job_1, job_2, job_3 and 5 more.");
}

Gang WithGpus(Gang gang, std::int64_t count,
              AcceleratorConfig::Type type = AcceleratorConfig::NVIDIA_TESLA_T4) {
  for (Gang::Replica& replica : gang.replicas) {
    replica.accelerator = type;
    replica.accelerator_count = count;
  }
  return gang;
}

DevicePool FourGpus() { return {*ParseDeclaredDevices("nvidia-tesla-t4=4"), {}}; }

TEST(PlanAdmissions, GpusAreExclusiveAndPriorityOrdersWhoeverWantsThem) {
  DevicePool pool = FourGpus();
  const std::vector<Gang> waiting = {WithGpus(Make(1, 1, 0, 9), 3), WithGpus(Make(2, 1, 0, 8), 2),
                                     WithGpus(Make(3, 1, 5, 1), 2), WithGpus(Make(4, 1, 0, 1), 2)};
  const Planned plan = PlanAll(kTwoCpus, {}, waiting, pool);
  EXPECT_EQ(Uids(plan), (Uid{3})) << "1 wants three, and holds back 2 and 4, for which there would be room";
  EXPECT_EQ(plan.waiting.at(1), (Wait{1, "Waiting for 3 NVIDIA_TESLA_T4: 2 of 4 are in use by job_3.",
                                      "It starts when job_3 has ended."}));
  EXPECT_EQ(plan.waiting.at(4).position, 3);
  EXPECT_TRUE(plan.waiting.at(4).is_turn);
  EXPECT_THAT(std::vector(plan.admitted.at(0).devices.at(0).gpus().begin(),
                          plan.admitted.at(0).devices.at(0).gpus().end()),
              testing::ElementsAre("0", "1"));
}

TEST(PlanAdmissions, TpusAreCountedByCores) {
  DevicePool pool{*ParseDeclaredDevices("tpu-v2=16"), {}};
  pool.Take("7", {.job_id = "tpu_job"}, *pool.Choose(WithGpus(Make(7, 1), 8, AcceleratorConfig::TPU_V2)));
  pool.Take("8", {.job_id = "other"}, *pool.Choose(WithGpus(Make(8, 1), 8, AcceleratorConfig::TPU_V2)));
  const Planned plan = PlanAll(kTwoCpus, {}, {WithGpus(Make(1, 1), 8, AcceleratorConfig::TPU_V3)}, pool);
  EXPECT_EQ(plan.waiting.at(1).reason, "Waiting for 8 TPU_V3: 16 of 16 are in use by other, tpu_job.");
}

TEST(PlanAdmissions, WhoWaitsForGpusHoldsBackNobodyElse) {
  DevicePool pool = FourGpus();
  pool.Take("7", {.job_id = "gpu_job"}, *pool.Choose(WithGpus(Make(7, 1), 4)));
  const Planned plan =
      PlanAll(kTwoCpus, {}, {WithGpus(Make(1, 1, 9, 9), 1), Make(2, 1), WithGpus(Make(3, 1, 9, 9), 8)}, pool);
  EXPECT_EQ(Uids(plan), (Uid{2}));
  EXPECT_THAT(plan.waiting.at(1).reason, testing::HasSubstr("4 of 4 are in use by gpu_job"));
}

TEST(PlanAdmissions, WhoWaitsForRoomHoldsBackAllAndKeepsItsGpus) {
  const Planned plan = PlanAll(kTwoCpus, {Make(9, 7)}, {WithGpus(Make(1, 2, 1), 1), Make(2, 1)}, FourGpus());
  EXPECT_EQ(Uids(plan), Uid{});
  EXPECT_THAT(plan.waiting.at(1).reason, testing::HasSubstr("a free place for 2 replicas"));
}

TEST(PlanAdmissions, WhatTheMachineCanNeverServeHoldsBackNobody) {
  const Planned plan =
      PlanAll(kTwoCpus, {}, {WithGpus(Make(1, 1, 9), 8), WithGpus(Make(2, 1), 4)}, FourGpus());
  EXPECT_EQ(Uids(plan), (Uid{2}));
}

TEST(PlanAdmissions, Properties) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    const Capacity& capacity = round % 2 == 0 ? kTwoCpus : kStrict;
    std::vector<Gang> running;
    std::vector<Gang> waiting;
    for (std::int64_t uid = 1; uid <= static_cast<std::int64_t>(random() % 9); ++uid) {
      waiting.push_back(Make(uid, 1 + static_cast<int>(random() % 6), static_cast<int>(random() % 3),
                             static_cast<int>(random() % 4)));
      if (random() % 3 == 0) waiting.back() = WithGpus(waiting.back(), 1 + static_cast<int>(random() % 2));
    }
    if (random() % 2 == 0) running.push_back(Make(100, 1 + static_cast<int>(random() % 2)));
    DevicePool pool = FourGpus();
    const Planned plan = PlanAll(capacity, running, waiting, pool);
    EXPECT_EQ(plan.admitted.size() + plan.waiting.size(), waiting.size());
    std::set<std::string> given;
    for (const Plan::Admission& admitted : plan.admitted) {
      for (const auto& devices : admitted.devices) {
        for (const std::string& gpu : devices.gpus()) EXPECT_TRUE(given.insert(gpu).second) << "given twice";
      }
    }
    std::set<std::int64_t> positions;
    for (const auto& [uid, wait] : plan.waiting) {
      positions.insert(wait.position);
      EXPECT_FALSE(wait.reason.empty());
    }
    EXPECT_EQ(positions.size(), plan.waiting.size());
    if (!positions.empty())
      EXPECT_EQ(*positions.rbegin(), std::ssize(positions)) << "1, 2, 3, ... without gaps";
    const auto fits = [&pool](const Gang& gang) { return !pool.LackOf(gang); };
    if (capacity.mode == Capacity::Mode::kShare && running.empty() && std::ranges::any_of(waiting, fits))
      EXPECT_FALSE(plan.admitted.empty());
    // Admitting the plan leaves nothing more to admit, and the order of the snapshot does not matter.
    std::vector<Gang> now_running = running;
    std::vector<Gang> still_waiting;
    for (const Gang& gang : waiting)
      (plan.waiting.contains(gang.uid) ? still_waiting : now_running).push_back(gang);
    for (const Plan::Admission& admitted : plan.admitted)
      pool.Take(std::to_string(admitted.uid), {.job_id = "x"}, admitted.devices);
    EXPECT_TRUE(PlanAll(capacity, now_running, still_waiting, pool).admitted.empty());
    std::shuffle(waiting.begin(), waiting.end(), random);
    EXPECT_EQ(Uids(PlanAll(capacity, running, waiting, FourGpus())), Uids(plan));
  }
}

TEST(CheckFits, RefusesOnlyWhatStrictCanNeverRun) {
  EXPECT_TRUE(CheckFits(kTwoCpus, Make(1, 50)));
  EXPECT_TRUE(CheckFits(kStrict, Make(1, 2)));
  EXPECT_EQ(
      CheckFits(kStrict, Make(1, 3)),
      Status(std::unexpected(FailedPrecondition("The job can never run on this machine: it asks for 12 vCPUs "
                                                "and 45 GiB in all, the machine has 8 CPUs and 32 GiB.",
                                                "worker_count"))));
  Gang big = Make(1, 1);
  big.replicas[0].memory_bytes = 33 * kGb;
  EXPECT_EQ(CheckFits(kStrict, big).error().field, "master_type");
}

TEST(ReplicaAddress, IsUniqueAndNeverTheMachinesOwn) {
  std::set<std::string> seen;
  for (std::int64_t uid : {0, 1, 2, 3, 16319}) {
    for (int replica = 0; replica < 1000; ++replica) {
      const std::string address = ReplicaAddress(uid, replica);
      EXPECT_TRUE(seen.insert(address).second) << address;
      EXPECT_TRUE(address.starts_with("127.") && !address.starts_with("127.0.")) << address;
    }
  }
  EXPECT_EQ(ReplicaAddress(1, 0), "127.1.4.1");
  EXPECT_EQ(ReplicaAddress(16319, 1021), "127.255.255.254");
}

TEST(ReplicaMemoryMax, LeavesAnEighthToTheMachine) {
  constexpr std::int64_t kGib = std::int64_t{1} << 30;
  EXPECT_EQ(ReplicaMemoryMax(16 * kGib), 14 * kGib);
  EXPECT_EQ(ReplicaMemoryMax(2 * kGib), 2 * kGib - kReserveBytesMin);
  EXPECT_EQ(ReplicaMemoryMax(256 * kGib), 256 * kGib - kReserveBytesMax);
  EXPECT_EQ(ReplicaMemoryMax(kGib / 2), 0);
  EXPECT_EQ(ReplicaMemoryMax(0), 0);
}

}  // namespace
}  // namespace trainyard::placement
