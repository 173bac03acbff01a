#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/kubernetes/pod_gangs.h"

namespace trainyard::kubernetes::pod_gangs_restart_test {
namespace {

using placement::Forget;
using placement::GiveRoom;
using placement::NothingLives;
using placement::SayWait;
using placement::VoidTicket;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr GangKey kA{.job_uid = 1, .try_number = 1};

/// Requests to the API server end when a test says so; some gangs are of a former server.
class KubernetesGangsRestart : public ::testing::Test {
 protected:
  std::vector<GangAction> Next() {
    std::vector<GangAction> actions;
    do {
      for (GangAction& action : gangs_.Next(now_))
        if (!std::holds_alternative<SayWait>(action)) actions.push_back(std::move(action));
    } while (gangs_.WakeAt() && *gangs_.WakeAt() == SysTime());
    return actions;
  }
  std::vector<GangAction> After(std::chrono::milliseconds time) {
    now_ += time;
    return Next();
  }
  Pod PodOf(GangKey key, int number, int slot) {
    return {.name = PodName("1f3a", {key, number}, slot), .uid = "u"};
  }
  Pod Placed(GangKey key, int number, int slot) {
    Pod pod = PodOf(key, number, slot);
    pod.node = "node";
    pod.phase = Pod::Phase::kRunning;
    return pod;
  }
  void List(std::vector<Pod> pods) { gangs_.OnListed(std::move(pods), now_, now_); }
  std::string Reason(GangKey key) {
    const auto wait = gangs_.WaitOf(key);
    return wait ? wait->reason : "none";
  }

  SysTime now_ = SysTime() + std::chrono::hours(1'000);
  PodGangs gangs_{"1f3a", {.turn = seconds(60)}};
};

TEST_F(KubernetesGangsRestart, GrantedOnesKeepTheirRoom) {
  gangs_.Want({.key = kA, .slots = 1, .last_submission = 3, .granted = true, .attached = {{0, "node"}}},
              now_);
  List({Placed(kA, 3, 0)});
  EXPECT_THAT(Next(), IsEmpty());
  EXPECT_TRUE(gangs_.IsCurrent({kA, 3}));
}

TEST_F(KubernetesGangsRestart, OnesWithoutAGrantWaitForTheirAgentsAgain) {
  gangs_.Want({.key = kA, .slots = 1, .last_submission = 3, .attached = {{0, "node"}}}, now_);
  List({Placed(kA, 3, 0)});
  EXPECT_THAT(Next(), IsEmpty()) << "the agent has not connected to this server";
  gangs_.OnAttached({kA, 3}, 0, "node", now_);
  EXPECT_THAT(Next(), ElementsAre(GangAction(GiveRoom{{kA, 3}})));
}

TEST_F(KubernetesGangsRestart, RecordedOnesWithoutPodsAreRemovedBeforeTheyAreCreatedAgain) {
  gangs_.Want({.key = kA, .slots = 2, .last_submission = 3}, now_);
  List({});
  EXPECT_THAT(Next(), ElementsAre(GangAction(VoidTicket{{kA, 3}}), GangAction(Remove{{kA, 3}})));
  EXPECT_THAT(After(minutes(10)), IsEmpty()) << "the next record would hide the Secret of this one";
  gangs_.OnRemoved({kA, 3});
  EXPECT_THAT(After(kCreatePause), ElementsAre(GangAction(Create{{kA, 4}})));
}

TEST_F(KubernetesGangsRestart, ReleasedOnesWithoutPodsAreRemovedBeforeTheyAreForgotten) {
  gangs_.Want({.key = kA, .slots = 2, .last_submission = 3, .may_have_run = true}, now_);
  gangs_.Release(kA, now_);
  EXPECT_THAT(Next(), ElementsAre(GangAction(VoidTicket{{kA, 3}}))) << "the pods are not known yet";
  List({});
  EXPECT_THAT(Next(), ElementsAre(GangAction(NothingLives{{kA, 3}}), GangAction(Remove{{kA, 3}})));
  EXPECT_THAT(After(minutes(10)), Not(Contains(GangAction(Forget{kA}))));
  gangs_.OnRemoved({kA, 3});
  EXPECT_THAT(Next(), ElementsAre(GangAction(Forget{kA})));
}

TEST_F(KubernetesGangsRestart, ReleasedOnesWhoseAnswerWasLostAreRemoved) {
  List({});
  gangs_.Want({.key = kA, .slots = 2}, now_);
  Next();
  gangs_.OnNotCreated({kA, 1}, NotCreated::kNoAnswer, {.reason = "No answer."}, now_);
  gangs_.Release(kA, now_);
  EXPECT_THAT(Next(), ElementsAre(GangAction(VoidTicket{{kA, 1}}), GangAction(Remove{{kA, 1}})));
  gangs_.OnRemoved({kA, 1});
  now_ += seconds(6);
  EXPECT_THAT(Next(), ElementsAre(GangAction(ListPods{})));
  now_ += seconds(1);
  List({});
  EXPECT_THAT(Next(), ElementsAre(GangAction(Forget{kA})));
}

TEST_F(KubernetesGangsRestart, OnesWithoutAnAnswerGiveTheirTurnAway) {
  List({});
  gangs_.Want({.key = kA, .slots = 2}, now_);
  Next();
  gangs_.OnNotCreated({kA, 1}, NotCreated::kNoAnswer, {.reason = "No answer."}, now_);
  EXPECT_THAT(After(seconds(60)), ElementsAre(GangAction(Create{{kA, 1}})));
  gangs_.OnNotCreated({kA, 1}, NotCreated::kNoAnswer, {.reason = "No answer."}, now_);
  EXPECT_THAT(Next(), ElementsAre(GangAction(VoidTicket{{kA, 1}}), GangAction(Remove{{kA, 1}})));
}

TEST_F(KubernetesGangsRestart, PausesForLostAnswersEndWithTheOutage) {
  List({});
  gangs_.Want({.key = kA, .slots = 1}, now_);
  Next();
  gangs_.OnNotCreated({kA, 1}, NotCreated::kNoAnswer, {.reason = "No answer."}, now_);
  gangs_.OnListFailed("connection refused", now_);
  EXPECT_EQ(Reason(kA), "connection refused");
  EXPECT_THAT(After(minutes(10)), IsEmpty());
  List({});
  EXPECT_THAT(Next(), ElementsAre(GangAction(Create{{kA, 1}})));
  EXPECT_EQ(Reason(kA), "No answer.");
}

TEST_F(KubernetesGangsRestart, WhatOthersWaitForIsSaidAgainAfterAnOutage) {
  List({});
  gangs_.Want({.key = kA, .slots = 2}, now_);
  Next();
  gangs_.OnNotCreated({kA, 1}, NotCreated::kLater, {.reason = "exceeded quota: team"}, now_);
  Next();
  gangs_.OnListFailed("connection refused", now_);
  EXPECT_EQ(Reason(kA), "connection refused");
  List({});
  EXPECT_EQ(Reason(kA), "exceeded quota: team");
}

TEST_F(KubernetesGangsRestart, AgentsHaveTimeAfterALongPull) {
  List({});
  gangs_.Want({.key = kA, .slots = 1}, now_);
  Next();
  gangs_.OnCreated({kA, 1}, now_);
  Pod pod = Placed(kA, 1, 0);
  pod.phase = Pod::Phase::kPending;
  pod.waiting = {.reason = "ContainerCreating"};
  gangs_.OnPod(pod, now_);
  Next();
  EXPECT_THAT(After(minutes(20)), IsEmpty());
  gangs_.OnPod(Placed(kA, 1, 0), now_);
  EXPECT_THAT(Next(), IsEmpty());
  EXPECT_THAT(After(kAttachMax), Contains(GangAction(Remove{{kA, 1}})));
}

TEST_F(KubernetesGangsRestart, ThatNeverFitDoNotKeepLaterOnesFromTheirTurn) {
  List({});
  constexpr int kStuck = 4;
  for (int job = 1; job <= kStuck + 1; ++job)
    gangs_.Want({.key = {.job_uid = job, .try_number = 1}, .slots = 2}, now_);
  std::set<std::int64_t> tried;
  for (int second = 0; second < 60 * (kStuck + 1) && std::ssize(tried) <= kStuck; ++second) {
    for (const GangAction& action : After(seconds(1))) {
      if (const auto* remove = std::get_if<Remove>(&action)) gangs_.OnRemoved(remove->submission);
      if (const auto* create = std::get_if<Create>(&action)) {
        tried.insert(create->submission.gang.job_uid);
        gangs_.OnCreated(create->submission, now_);
        for (int slot = 0; slot < 2; ++slot)
          gangs_.OnPod(PodOf(create->submission.gang, create->submission.number, slot), now_);
      }
    }
  }
  EXPECT_EQ(std::ssize(tried), kStuck + 1);
}

TEST_F(KubernetesGangsRestart, SinglePodsWithoutNodesMakeWayForOthers) {
  List({});
  for (int job = 1; job <= kUnplacedMax + 1; ++job)
    gangs_.Want({.key = {.job_uid = job, .try_number = 1}, .slots = 1}, now_);
  bool is_last_tried = false;
  for (int second = 0; second < 600 && !is_last_tried; ++second) {
    for (const GangAction& action : After(seconds(1))) {
      if (const auto* remove = std::get_if<Remove>(&action)) gangs_.OnRemoved(remove->submission);
      if (const auto* create = std::get_if<Create>(&action)) {
        is_last_tried = is_last_tried || create->submission.gang.job_uid == kUnplacedMax + 1;
        gangs_.OnCreated(create->submission, now_);
        gangs_.OnPod(PodOf(create->submission.gang, create->submission.number, 0), now_);
      }
    }
  }
  EXPECT_TRUE(is_last_tried);
}

TEST_F(KubernetesGangsRestart, OverAQuotaMakeFewRequests) {
  List({});
  constexpr int kJobs = 1'000;
  for (int job = 1; job <= kJobs; ++job)
    gangs_.Want({.key = {.job_uid = job, .try_number = 1}, .slots = 1}, now_);
  int requests = 0;
  for (int second = 0; second < 3'600; ++second) {
    for (const GangAction& action : After(seconds(1))) {
      if (const auto* remove = std::get_if<Remove>(&action)) gangs_.OnRemoved(remove->submission);
      const auto* create = std::get_if<Create>(&action);
      if (create == nullptr) continue;
      requests += second < 1'800 ? 0 : 1;
      gangs_.OnNotCreated(create->submission, NotCreated::kLater, {.reason = "exceeded quota"}, now_);
    }
  }
  EXPECT_LT(requests, 1'800 * 3) << "some a second";
  EXPECT_GT(requests, 1'800);
}

TEST_F(KubernetesGangsRestart, AHundredThousandAreNoBurden) {
  constexpr int kJobs = 100'000;
  for (int job = 1; job <= kJobs; ++job)
    gangs_.Want({.key = {.job_uid = job, .try_number = 1}, .slots = 1 + (job % 2)}, now_);
  List({});
  int created = 0;
  for (int i = 0; i < 1'000; ++i) {
    for (const GangAction& action : After(std::chrono::milliseconds(1))) {
      const auto* create = std::get_if<Create>(&action);
      if (create == nullptr) continue;
      ++created;
      gangs_.OnCreated(create->submission, now_);
    }
  }
  EXPECT_EQ(created, kUnplacedMax + 1);
}

}  // namespace
}  // namespace trainyard::kubernetes::pod_gangs_restart_test
