#include "rules/kubernetes/pod_gangs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::kubernetes::pod_gangs_test {
namespace {

using placement::Forget;
using placement::GiveRoom;
using placement::NothingLives;
using placement::RoomEnd;
using placement::SayWait;
using placement::TakeBack;
using placement::VoidTicket;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr GangKey kA{.job_uid = 1, .try_number = 1};
constexpr GangKey kB{.job_uid = 2, .try_number = 1};

/// A cluster as a test tells it.
class KubernetesGangs : public ::testing::Test {
 protected:
  KubernetesGangs() : KubernetesGangs(seconds(60)) {}
  explicit KubernetesGangs(seconds turn, GangScheduler scheduler = GangScheduler::kTurns)
      : gangs_("1f3a", {.scheduler = scheduler, .queue = "team", .turn = turn}) {
    List({});
  }

  void Want(GangKey key, int slots, int priority = 0) {
    gangs_.Want({.key = key, .slots = slots, .priority = priority}, now_);
  }
  /// What is to be done now, without what is only shown.
  std::vector<GangAction> Next() {
    std::vector<GangAction> actions;
    do {
      for (GangAction& action : gangs_.Next(now_)) {
        if (const auto* remove = std::get_if<Remove>(&action)) gangs_.OnRemoved(remove->submission);
        if (!std::holds_alternative<SayWait>(action)) actions.push_back(std::move(action));
      }
    } while (gangs_.WakeAt() && *gangs_.WakeAt() == SysTime());
    return actions;
  }
  std::vector<GangAction> After(std::chrono::milliseconds time) {
    now_ += time;
    return Next();
  }
  Pod PodOf(GangKey key, int number, int slot) {
    return {.name = PodName("1f3a", {key, number}, slot), .uid = "u" + std::to_string(slot)};
  }
  Pod Placed(GangKey key, int number, int slot) {
    Pod pod = PodOf(key, number, slot);
    pod.node = "node" + std::to_string(slot);
    pod.phase = Pod::Phase::kRunning;
    return pod;
  }
  Pod Unplaced(GangKey key, int number, int slot) {
    Pod pod = PodOf(key, number, slot);
    pod.conditions = {{.type = "PodScheduled",
                       .status = "False",
                       .reason = "Unschedulable",
                       .message = "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are "
                                  "available: 2 No preemption victims found for incoming pod."}};
    return pod;
  }
  void List(std::vector<Pod> pods) { gangs_.OnListed(std::move(pods), now_, now_); }
  void See(Pod pod) { gangs_.OnPod(std::move(pod), now_); }
  /// The gang is created and has its room.
  void Grant(GangKey key, int slots, int number = 1) {
    Want(key, slots);
    EXPECT_THAT(Next(), ElementsAre(GangAction(Create{{key, number}})));
    gangs_.OnCreated({key, number}, now_);
    for (int slot = 0; slot < slots; ++slot) See(Placed(key, number, slot));
    for (int slot = 0; slot < slots; ++slot) gangs_.OnAttached({key, number}, slot, "node", now_);
    EXPECT_THAT(Next(), ElementsAre(GangAction(GiveRoom{{key, number}})));
  }
  /// kA is created with two pods: the first one has its node, the second one is as told.
  void CreateHalfPlaced(Pod second) {
    Want(kA, 2);
    EXPECT_THAT(Next(), ElementsAre(GangAction(Create{{kA, 1}})));
    gangs_.OnCreated({kA, 1}, now_);
    See(Placed(kA, 1, 0));
    See(std::move(second));
    EXPECT_THAT(Next(), IsEmpty());
  }
  std::string Reason(GangKey key) {
    const auto wait = gangs_.WaitOf(key);
    return wait ? wait->reason : "none";
  }

  SysTime now_ = SysTime() + std::chrono::hours(1'000);
  PodGangs gangs_;
};

struct KubernetesShortTurns : KubernetesGangs {
  KubernetesShortTurns() : KubernetesGangs(seconds(2)) {}
};
struct KubernetesPodGroups : KubernetesGangs {
  KubernetesPodGroups() : KubernetesGangs(seconds(60), GangScheduler::kPodGroups) {}
};
struct KubernetesQueue : KubernetesGangs {
  KubernetesQueue() : KubernetesGangs(seconds(60), GangScheduler::kQueue) {}

  Pod Gated(GangKey key, int number, int slot) {
    Pod pod = PodOf(key, number, slot);
    pod.conditions = {{.type = "PodScheduled", .status = "False", .reason = "SchedulingGated"}};
    pod.queue = "team";
    return pod;
  }
};

TEST_F(KubernetesGangs, GetTheirRoomWhenAllPodsRunAndAllAgentsAreThere) {
  Want(kA, 2);
  EXPECT_THAT(Next(), ElementsAre(GangAction(Create{{kA, 1}})));
  EXPECT_TRUE(gangs_.IsCurrent({kA, 1}));
  gangs_.OnCreated({kA, 1}, now_);
  See(Placed(kA, 1, 0));
  See(Unplaced(kA, 1, 1));
  EXPECT_THAT(Next(), IsEmpty());
  EXPECT_THAT(Reason(kA), HasSubstr("1 of 2 pods have a node."));
  gangs_.OnAttached({kA, 1}, 0, "node0", now_);
  See(Placed(kA, 1, 1));
  EXPECT_THAT(Next(), IsEmpty());
  EXPECT_EQ(Reason(kA), "Its agents start in their pods.");
  gangs_.OnAttached({kA, 1}, 1, "node1", now_);
  EXPECT_THAT(Next(), ElementsAre(GangAction(GiveRoom{{kA, 1}})));
  EXPECT_EQ(gangs_.WaitOf(kA), std::nullopt);
}

TEST_F(KubernetesPodGroups, NeedNoTurns) {
  Want(kA, 2);
  Want(kB, 2);
  EXPECT_THAT(Next(), ElementsAre(GangAction(Create{{kA, 1}}), GangAction(Create{{kB, 1}})));
  for (const GangKey key : {kA, kB}) {
    gangs_.OnCreated({key, 1}, now_);
    for (int slot = 0; slot < 2; ++slot) See(Unplaced(key, 1, slot));
  }
  EXPECT_THAT(After(std::chrono::hours(2)), IsEmpty())
      << "they hold nothing, so they stay in the scheduler's line";
  EXPECT_THAT(Reason(kA), HasSubstr("too few free CPUs"));
}

TEST_F(KubernetesPodGroups, AGangOfAPreviousServerHoldsPartsOnlyForATurn) {
  gangs_.Want({.key = kA, .slots = 2, .last_submission = 4}, now_);
  List({Placed(kA, 4, 0), Unplaced(kA, 4, 1)});
  EXPECT_THAT(Next(), IsEmpty());
  EXPECT_THAT(After(seconds(61)), Contains(GangAction(Remove{{kA, 4}})));
}

TEST_F(KubernetesQueue, PodsOfAnotherQueueAreMadeAgain) {
  gangs_.Want({.key = kA, .slots = 1, .last_submission = 4}, now_);
  Pod pod = Gated(kA, 4, 0);
  pod.queue = "nowhere";
  List({pod});
  EXPECT_THAT(Next(), Contains(GangAction(Remove{.submission = {kA, 4}, .waits = true})));
  gangs_.OnPodGone(pod, now_);
  EXPECT_THAT(After(kCreatePause), Contains(GangAction(Create{{kA, 5}})));
}

TEST_F(KubernetesGangs, GatesOfSomebodyElseLastForATurn) {
  Pod gated = PodOf(kA, 1, 1);
  gated.conditions = {{.type = "PodScheduled", .status = "False", .reason = "SchedulingGated"}};
  CreateHalfPlaced(gated);
  EXPECT_THAT(After(kVerdictMax), Contains(GangAction(Remove{{kA, 1}})));
}

TEST_F(KubernetesPodGroups, APartThatWasPlacedIsHeldForATurn) {
  CreateHalfPlaced(Unplaced(kA, 1, 1));
  EXPECT_THAT(After(seconds(61)), Contains(GangAction(Remove{{kA, 1}})));
}

TEST_F(KubernetesQueue, AdmitsOneAfterTheOther) {
  Want(kA, 2);
  Want(kB, 2);
  EXPECT_THAT(Next(), ElementsAre(GangAction(Create{{kA, 1}}), GangAction(Create{{kB, 1}})));
  for (const GangKey key : {kA, kB}) {
    gangs_.OnCreated({key, 1}, now_);
    for (int slot = 0; slot < 2; ++slot) See(Gated(key, 1, slot));
  }
  EXPECT_THAT(After(std::chrono::hours(2)),
              ElementsAre(GangAction(AskQueue{{kA, 1}}), GangAction(AskQueue{{kB, 1}})))
      << "it would be the last one in the queue";
  EXPECT_THAT(Reason(kA), HasSubstr("queue"));
  // Admitted, it may hold a part of the nodes that it needs, but only for a turn.
  See(Placed(kA, 1, 0));
  See(Unplaced(kA, 1, 1));
  EXPECT_THAT(Next(), IsEmpty());
  EXPECT_THAT(After(seconds(59)), Contains(GangAction(LookForScaleUp{{kA, 1}, PodName("1f3a", {kA, 1}, 1)})));
  EXPECT_THAT(After(seconds(2)), Contains(GangAction(Remove{.submission = {kA, 1}, .waits = true})));
}

TEST_F(KubernetesQueue, IsAskedWhyItDoesNotAdmit) {
  Want(kA, 1);
  Next();
  gangs_.OnCreated({kA, 1}, now_);
  See(Gated(kA, 1, 0));
  EXPECT_THAT(Next(), IsEmpty()) << "it has not looked at the pod yet";
  EXPECT_THAT(After(kAskQueueFirst), ElementsAre(GangAction(AskQueue{{kA, 1}})));
  gangs_.OnQueueWords({kA, 1},
                      "couldn't assign flavors to pod set main: insufficient unused quota for cpu in "
                      "flavor default, 4 more needed");
  EXPECT_THAT(Next(), IsEmpty());
  EXPECT_EQ(Reason(kA),
            "A queue of the cluster has not admitted it yet: couldn't assign flavors to pod set main: "
            "insufficient unused quota for cpu in flavor default, 4 more needed.");
  EXPECT_THAT(After(kAskQueuePause), ElementsAre(GangAction(AskQueue{{kA, 1}})));
  See(Unplaced(kA, 1, 0));
  EXPECT_THAT(After(kAskQueuePause), IsEmpty()) << "it has admitted it";
  EXPECT_THAT(Reason(kA), HasSubstr("too few free CPUs"));
}

TEST_F(KubernetesQueue, IsLeftAtOnceByWhatHasNoNode) {
  Want(kA, 2);
  Next();
  gangs_.OnCreated({kA, 1}, now_);
  for (int slot = 0; slot < 2; ++slot) See(Gated(kA, 1, slot));
  Next();
  gangs_.Release(kA, now_);
  EXPECT_THAT(Next(), ElementsAre(GangAction(VoidTicket{{kA, 1}}),
                                  GangAction(Remove{.submission = {kA, 1}, .waits = true})));
}

TEST_F(KubernetesQueue, HasAdmittedWhatWaitsForItsFirstNodeAsLongAsItTakes) {
  Want(kA, 2);
  Next();
  gangs_.OnCreated({kA, 1}, now_);
  for (int slot = 0; slot < 2; ++slot) See(Unplaced(kA, 1, slot));
  EXPECT_THAT(After(std::chrono::hours(2)), IsEmpty()) << "it would be the last one in the queue";
  now_ += std::chrono::minutes(4);
  See(Placed(kA, 1, 0));
  EXPECT_THAT(Next(), IsEmpty()) << "its turn begins now, whenever somebody has looked at it before";
  EXPECT_THAT(After(seconds(59)),
              ElementsAre(GangAction(LookForScaleUp{{kA, 1}, PodName("1f3a", {kA, 1}, 1)})));
  EXPECT_THAT(After(seconds(2)), Contains(GangAction(Remove{.submission = {kA, 1}, .waits = true})));
}

TEST_F(KubernetesQueue, KeepsTheQuotaOfPodsUntilTheyHaveEnded) {
  Grant(kA, 2);
  gangs_.Release(kA, now_);
  Next();
  EXPECT_THAT(After(kLeaveMax), ElementsAre(GangAction(Remove{.submission = {kA, 1}, .waits = false})));
}

TEST_F(KubernetesGangs, OfSeveralPodsTakeTurns) {
  Want(kA, 2);
  Want(kB, 2);
  EXPECT_THAT(Next(), ElementsAre(GangAction(Create{{kA, 1}})));
  EXPECT_TRUE(gangs_.WaitOf(kB)->is_turn);
  gangs_.OnCreated({kA, 1}, now_);
  See(Placed(kA, 1, 0));
  See(Unplaced(kA, 1, 1));
  EXPECT_THAT(After(seconds(31)),
              ElementsAre(GangAction(LookForScaleUp{{kA, 1}, PodName("1f3a", {kA, 1}, 1)})));
  // Its turn is over: it gives back the half that it has.
  EXPECT_THAT(After(seconds(30)), ElementsAre(GangAction(VoidTicket{{kA, 1}}), GangAction(Remove{{kA, 1}}),
                                              GangAction(Create{{kB, 1}})));
  EXPECT_FALSE(gangs_.IsCurrent({kA, 1}));
  EXPECT_THAT(Reason(kA), HasSubstr("1 of 2 pods have a node.")) << "what it waited for is still shown";
  gangs_.OnCreated({kB, 1}, now_);
  See(Placed(kB, 1, 0));
  See(Placed(kB, 1, 1));
  // B has its nodes: the turn is free although its agents are not there yet.
  EXPECT_THAT(After(seconds(76)), Contains(GangAction(Create{{kA, 2}})));
}

TEST_F(KubernetesShortTurns, DoNotEndBeforeTheSchedulerHasLooked) {
  Want(kA, 2);
  Want(kB, 2);
  EXPECT_THAT(Next(), ElementsAre(GangAction(Create{{kA, 1}})));
  gangs_.OnCreated({kA, 1}, now_);
  See(Placed(kA, 1, 0));
  See(PodOf(kA, 1, 1));
  EXPECT_THAT(After(seconds(30)), IsEmpty()) << "nobody has said that the other pod has to wait";
  See(Unplaced(kA, 1, 1));
  EXPECT_THAT(Next(), ElementsAre(GangAction(VoidTicket{{kA, 1}}), GangAction(Remove{{kA, 1}}),
                                  GangAction(Create{{kB, 1}})));
}

TEST_F(KubernetesShortTurns, EndIfTheSchedulerNeverLooks) {
  Want(kA, 2);
  Want(kB, 2);
  EXPECT_THAT(Next(), ElementsAre(GangAction(Create{{kA, 1}})));
  gangs_.OnCreated({kA, 1}, now_);
  See(PodOf(kA, 1, 0));
  See(PodOf(kA, 1, 1));
  EXPECT_THAT(After(kVerdictMax), Contains(GangAction(Create{{kB, 1}})));
}

TEST_F(KubernetesGangs, OfOnePodNeedNoTurn) {
  Want(kA, 1);
  Want(kB, 1);
  EXPECT_THAT(Next(), ElementsAre(GangAction(Create{{kA, 1}}), GangAction(Create{{kB, 1}})));
  gangs_.OnCreated({kA, 1}, now_);
  See(Unplaced(kA, 1, 0));
  EXPECT_THAT(After(std::chrono::hours(24)), IsEmpty()) << "it waits as long as it takes";
}

TEST_F(KubernetesGangs, WithAHigherPriorityAreFirst) {
  Want(kA, 2, 0);
  Want(kB, 2, 7);
  EXPECT_THAT(Next(), ElementsAre(GangAction(Create{{kB, 1}})));
}

TEST_F(KubernetesGangs, HaveMoreTimeWhileAnAutoscalerAddsNodes) {
  Want(kA, 2);
  Next();
  gangs_.OnCreated({kA, 1}, now_);
  See(Unplaced(kA, 1, 0));
  See(Unplaced(kA, 1, 1));
  Next();
  EXPECT_THAT(After(seconds(31)), ElementsAre(::testing::VariantWith<LookForScaleUp>(::testing::_)));
  gangs_.OnScaleUp({kA, 1}, now_);
  EXPECT_THAT(After(std::chrono::minutes(13)), IsEmpty());
  EXPECT_THAT(After(std::chrono::minutes(2)), Contains(GangAction(Remove{{kA, 1}})));
}

TEST_F(KubernetesGangs, AreAskedForAgainWithTheSameNamesIfTheAnswerWasLost) {
  Want(kA, 2);
  Next();
  gangs_.OnNotCreated({kA, 1}, NotCreated::kNoAnswer, {.reason = "No answer."}, now_);
  EXPECT_THAT(Next(), IsEmpty());
  EXPECT_THAT(After(kCreatePause), ElementsAre(GangAction(Create{{kA, 1}})));
}

TEST_F(KubernetesGangs, OverAQuotaWaitUntilPodsEnd) {
  Grant(kB, 1);
  Want(kA, 1);
  EXPECT_THAT(Next(), ElementsAre(GangAction(Create{{kA, 1}})));
  gangs_.OnNotCreated({kA, 1}, NotCreated::kLater, {.reason = "exceeded quota: team"}, now_);
  EXPECT_THAT(Next(), ElementsAre(GangAction(VoidTicket{{kA, 1}}), GangAction(Remove{{kA, 1}})));
  EXPECT_EQ(Reason(kA), "exceeded quota: team");
  gangs_.OnPodGone(Placed(kB, 1, 0), now_);
  EXPECT_THAT(Next(), Contains(GangAction(Create{{kA, 2}})));
}

TEST_F(KubernetesGangs, AreNotCreatedAgainBecauseTheirOwnPodsAreGone) {
  Want(kA, 2);
  Want(kB, 2);
  for (const GangKey key : {kA, kB}) {  // each has a pod before the quota refuses the second one
    EXPECT_THAT(Next(), Contains(GangAction(Create{{key, 1}})));
    See(PodOf(key, 1, 0));
    gangs_.OnNotCreated({key, 1}, NotCreated::kLater, {.reason = "exceeded quota: team"}, now_);
  }
  Next();
  for (const GangKey key : {kA, kB}) gangs_.OnPodGone(PodOf(key, 1, 0), now_);
  EXPECT_THAT(After(kCreatePause / 2), IsEmpty());
  EXPECT_THAT(After(kCreatePause / 2), ElementsAre(GangAction(Create{{kA, 2}})));
  EXPECT_EQ(Reason(kA), "exceeded quota: team") << "until the quota accepts it";
}

TEST_F(KubernetesGangs, AreRemovedOnceTheirAgentsHaveLeft) {
  Grant(kA, 1);
  gangs_.Release(kA, now_);
  EXPECT_THAT(Next(), ElementsAre(GangAction(VoidTicket{{kA, 1}})));
  EXPECT_TRUE(gangs_.MayLive({kA, 1}));
  Pod ended = Placed(kA, 1, 0);
  ended.phase = Pod::Phase::kSucceeded;
  ended.terminated = Pod::Terminated{.exit_code = 0, .reason = "Completed"};
  See(ended);
  EXPECT_THAT(Next(), ElementsAre(GangAction(NothingLives{{kA, 1}}), GangAction(Remove{{kA, 1}}),
                                  GangAction(Forget{kA})));
}

TEST_F(KubernetesGangs, AnAgentThatDoesNotEndItsProgramLosesItsPods) {
  Grant(kA, 1);
  gangs_.OnUnheard({kA, 1}, "the agent does not answer", now_);
  EXPECT_THAT(Next(), ElementsAre(GangAction(VoidTicket{{kA, 1}}),
                                  GangAction(TakeBack{.gang = kA, .reason = "the agent does not answer"}),
                                  GangAction(Remove{{kA, 1}})));
  gangs_.OnUnheard({kA, 1}, "again", now_);
  EXPECT_THAT(Next(), IsEmpty());
  gangs_.OnPodGone(Placed(kA, 1, 0), now_);
  EXPECT_THAT(Next(), ElementsAre(GangAction(NothingLives{{kA, 1}})));
}

TEST_F(KubernetesGangs, WhoseAgentsStayAreRemovedAfterAWhile) {
  Grant(kA, 1);
  gangs_.Release(kA, now_);
  Next();
  EXPECT_THAT(After(kLeaveMax), ElementsAre(GangAction(Remove{{kA, 1}})));
  EXPECT_THAT(After(kRemoveAgain), ElementsAre(GangAction(Remove{{kA, 1}}))) << "it is still there";
  gangs_.OnPodGone(Placed(kA, 1, 0), now_);
  EXPECT_THAT(Next(), ElementsAre(GangAction(NothingLives{{kA, 1}}), GangAction(Forget{kA})));
}

TEST_F(KubernetesGangs, LoseTheirRoomWithAPod) {
  Grant(kA, 2);
  Pod evicted = Placed(kA, 1, 1);
  evicted.conditions = {{.type = "DisruptionTarget",
                         .status = "True",
                         .reason = "PreemptionByScheduler",
                         .message = "default-scheduler: preempting to accommodate a higher priority pod"}};
  gangs_.OnPodGone(evicted, now_);
  const std::vector<GangAction> actions = Next();
  ASSERT_THAT(
      actions,
      Contains(::testing::VariantWith<TakeBack>(::testing::Field(&TakeBack::kind, RoomEnd::kPreempted))));
  EXPECT_THAT(actions, Contains(GangAction(VoidTicket{{kA, 1}})));
  EXPECT_THAT(actions, Contains(GangAction(Remove{{kA, 1}}))) << "its peers go, too";
  EXPECT_THAT(actions, Not(Contains(GangAction(NothingLives{{kA, 1}})))) << "one peer lives";
  gangs_.OnPodGone(Placed(kA, 1, 0), now_);
  EXPECT_THAT(Next(), Contains(GangAction(NothingLives{{kA, 1}})));
  gangs_.Release(kA, now_);
  EXPECT_THAT(Next(), ElementsAre(GangAction(Forget{kA})));
}

TEST_F(KubernetesGangs, OnASilentNodeAreLostAtOnce) {
  Grant(kA, 1);
  Pod silent = Placed(kA, 1, 0);
  silent.is_deleted = true;
  silent.conditions = {{.type = "DisruptionTarget",
                        .status = "True",
                        .reason = "DeletionByTaintManager",
                        .message = "Taint manager: deleting due to NoExecute taint"}};
  See(silent);
  EXPECT_THAT(Next(), IsEmpty()) << "a healthy node ends it";
  silent.conditions.push_back({.type = "Ready", .status = "False"});
  See(silent);
  const std::vector<GangAction> actions = Next();
  EXPECT_THAT(actions,
              Contains(::testing::VariantWith<TakeBack>(::testing::Field(&TakeBack::kind, RoomEnd::kLost))));
  EXPECT_THAT(actions, Contains(GangAction(NothingLives{{kA, 1}}))) << "nobody knows when the pod vanishes";
}

TEST_F(KubernetesGangs, WhoseImageCannotBePulledEndAfterALimit) {
  Want(kA, 1);
  Next();
  gangs_.OnCreated({kA, 1}, now_);
  Pod pod = Placed(kA, 1, 0);
  pod.phase = Pod::Phase::kPending;
  pod.waiting = {.reason = "ImagePullBackOff", .message = "Back-off pulling image \"nothere\""};
  See(pod);
  EXPECT_THAT(Next(), IsEmpty());
  EXPECT_THAT(Reason(kA), HasSubstr("image"));
  EXPECT_THAT(
      After(seconds(1'801)),
      Contains(::testing::VariantWith<TakeBack>(::testing::Field(&TakeBack::kind, RoomEnd::kCannotStart))));
}

TEST_F(KubernetesGangs, WaitWhileTheServerDoesNotAnswer) {
  gangs_.OnListFailed("connection refused", now_);
  Want(kA, 1);
  EXPECT_THAT(Next(), IsEmpty());
  List({});
  EXPECT_THAT(Next(), ElementsAre(GangAction(Create{{kA, 1}})));
}

TEST_F(KubernetesGangs, KeepTheirRoomWhileTheServerDoesNotAnswer) {
  Grant(kA, 1);
  gangs_.OnListFailed("connection refused", now_);
  EXPECT_THAT(After(std::chrono::minutes(10)), IsEmpty());
  List({Placed(kA, 1, 0)});
  EXPECT_THAT(Next(), IsEmpty());
}

TEST_F(KubernetesGangs, OfAFormerServerAreTakenOver) {
  PodGangs next{"1f3a", {}};
  next.Want({.key = kA, .slots = 1, .last_submission = 3, .granted = true, .attached = {{0, "node0"}}}, now_);
  EXPECT_THAT(next.Next(now_), IsEmpty());
  EXPECT_TRUE(next.IsCurrent({kA, 3}));
  next.OnListed({Placed(kA, 3, 0)}, now_, now_);
  EXPECT_THAT(next.Next(now_), IsEmpty());
  next.OnListed({}, now_, now_);
  EXPECT_THAT(next.Next(now_), Contains(::testing::VariantWith<TakeBack>(::testing::_)));
}

TEST_F(KubernetesGangs, HalfMadeByAFormerServerAreMadeAnew) {
  PodGangs next{"1f3a", {}};
  next.Want({.key = kA, .slots = 2, .last_submission = 3}, now_);
  next.OnListed({Unplaced(kA, 3, 0)}, now_, now_);
  EXPECT_THAT(next.Next(now_), Contains(GangAction(Remove{{kA, 3}})));
  next.OnRemoved({kA, 3});
  std::vector<GangAction> later = next.Next(now_ + seconds(3));
  EXPECT_THAT(later, Contains(GangAction(Create{{kA, 4}})));
}

TEST_F(KubernetesGangs, OfNobodyAreRemoved) {
  List({Placed({.job_uid = 9, .try_number = 1}, 1, 0)});
  EXPECT_THAT(Next(), ElementsAre(GangAction(Remove{{{.job_uid = 9, .try_number = 1}, 1}})));
}

TEST_F(KubernetesGangs, ReleasedWhileTheyAreCreatedAreRemovedAfterwards) {
  Want(kA, 2);
  Next();
  gangs_.Release(kA, now_);
  EXPECT_THAT(Next(), ElementsAre(GangAction(VoidTicket{{kA, 1}}))) << "more of it may be created still";
  gangs_.OnCreated({kA, 1}, now_);
  EXPECT_THAT(Next(), ElementsAre(GangAction(Remove{{kA, 1}})));
  // Nothing tells about pods that were never seen: a list does.
  EXPECT_THAT(After(kUnseenMax), ElementsAre(GangAction(ListPods{})));
  now_ += seconds(1);
  List({});
  EXPECT_THAT(Next(), ElementsAre(GangAction(Forget{kA})));
}

TEST_F(KubernetesGangs, WantedAgainAreCreatedOnceNothingIsLeft) {
  Grant(kA, 1);
  gangs_.Release(kA, now_);
  Next();
  Want(kA, 1);
  EXPECT_THAT(Reason(kA), HasSubstr("still ends"));
  gangs_.OnPodGone(Placed(kA, 1, 0), now_);
  EXPECT_THAT(Next(), Contains(GangAction(Create{{kA, 2}})));
}

TEST_F(KubernetesGangs, AtTheirTimeLimitSayThat) {
  Grant(kA, 1);
  gangs_.OnTimeLimit({kA, 1});
  Pod ended = Placed(kA, 1, 0);
  ended.phase = Pod::Phase::kFailed;
  ended.terminated = Pod::Terminated{.exit_code = 1, .reason = "Error"};
  See(ended);
  EXPECT_THAT(
      Next(),
      Contains(::testing::VariantWith<TakeBack>(::testing::Field(&TakeBack::kind, RoomEnd::kTimeLimit))));
}

}  // namespace
}  // namespace trainyard::kubernetes::pod_gangs_test
