#include "rules/slurm/gangs.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace trainyard::slurm {
namespace {

using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr GangKey kKey{.job_uid = 7, .try_number = 1};
constexpr Submission kFirst{kKey, 1};
constexpr Submission kSecond{kKey, 2};

class GangsTest : public testing::Test {
 protected:
  template <class Action>
  static std::vector<Action> Of(const std::vector<GangAction>& actions) {
    std::vector<Action> found;
    for (const GangAction& action : actions)
      if (const auto* one = std::get_if<Action>(&action)) found.push_back(*one);
    return found;
  }
  std::vector<GangAction> Next() {
    std::vector<GangAction> actions = gangs_.Next(now_);
    for (const AskList& ask : Of<AskList>(actions)) is_asked_ = is_asked_ || !ask.id;
    return actions;
  }
  void Pass(int s) { now_ += seconds(s); }
  static ListedJob Job(std::int64_t id, JobState state, const Submission& submission = kFirst,
                       std::string reason = "None") {
    return {.id = id,
            .name = JobName("1f3a", submission.gang),
            .comment = Comment(submission),
            .state = state,
            .state_text = "STATE",
            .nodes = state == JobState::kPending ? "" : "node1",
            .reason = std::move(reason)};
  }
  /// A list that begins now, after it was requested.
  std::vector<GangAction> List(std::vector<ListedJob> jobs) {
    for (int s = 0; !is_asked_ && s < 100; ++s) {
      for (GangAction& action : Next()) early_.push_back(std::move(action));
      if (!is_asked_) Pass(1);
    }
    is_asked_ = false;
    gangs_.OnListed(std::nullopt, now_, OursOf("1f3a", std::move(jobs)), now_);
    std::vector<GangAction> actions = std::exchange(early_, {});
    for (GangAction& action : Next()) actions.push_back(std::move(action));
    return actions;
  }
  void Submitted() {
    gangs_.Want({.key = kKey, .slots = 2}, now_);
    EXPECT_THAT(Of<Submit>(Next()), ElementsAre(Submit{kFirst}));
    gangs_.OnSubmitted(kFirst, 40, now_);
  }
  void Granted() {
    Submitted();
    gangs_.OnAttached(kFirst, 0, "node1", now_);
    gangs_.OnAttached(kFirst, 1, "node1", now_);
    EXPECT_THAT(Of<GiveRoom>(List({Job(40, JobState::kRunning)})), ElementsAre(GiveRoom{kFirst}));
  }
  /// Like a server that succeeds the one that granted the resources.
  void WantWithRoomOnRecord() {
    gangs_.Want({.key = kKey,
                 .slots = 2,
                 .last_submission = 1,
                 .granted = true,
                 .attached = {{0, "node1"}, {1, "node1"}}},
                now_);
  }
  [[nodiscard]] std::string Reason() const {
    const auto wait = gangs_.WaitOf(kKey);
    return wait ? wait->reason : "";
  }

  SysTime now_{std::chrono::hours(1'000)};
  Gangs gangs_{"1f3a"};
  bool is_asked_ = false;
  std::vector<GangAction> early_;  ///< returned before the list
};

TEST_F(GangsTest, GivesRoomOnceAllAgentsCameAndALaterListSaysThatItRuns) {
  Submitted();
  EXPECT_THAT(Of<GiveRoom>(List({Job(40, JobState::kRunning)})), IsEmpty()) << "no agent yet";
  gangs_.OnAttached(kFirst, 0, "node1", now_);
  gangs_.OnAttached(kFirst, 1, "node1", now_);
  EXPECT_THAT(Next(), Contains(GangAction(AskList{.id = 40}))) << "at once, and of this job alone";
  gangs_.OnListed(40, now_ - seconds(1), OursOf("1f3a", {Job(40, JobState::kRunning)}), now_);
  EXPECT_THAT(Of<GiveRoom>(Next()), IsEmpty()) << "it was asked before the agents came";
  gangs_.OnListed(40, now_, OursOf("1f3a", {Job(40, JobState::kRunning)}), now_);
  EXPECT_THAT(Of<GiveRoom>(Next()), ElementsAre(GiveRoom{kFirst}));
  EXPECT_EQ(gangs_.WaitOf(kKey), std::nullopt);
}

TEST_F(GangsTest, ThatItRunsIsAskedForAloneAndTheListOnlyIfThatSaysNothing) {
  const auto came = [this](JobState before) {
    Submitted();
    List({Job(40, before)});
    Pass(2);
    gangs_.OnAttached(kFirst, 0, "node1", now_);
    gangs_.OnAttached(kFirst, 1, "node1", now_);
    EXPECT_THAT(Of<AskList>(Next()), ElementsAre(AskList{.id = 40}));
  };
  came(JobState::kRunning);
  gangs_.OnListed(40, now_, OursOf("1f3a", {}), now_);
  EXPECT_THAT(Of<AskList>(Next()), ElementsAre(AskList{})) << "it was not there";
  gangs_ = Gangs("1f3a");
  came(JobState::kRunning);
  gangs_.OnListFailed(40, "no answer", now_);
  EXPECT_THAT(Of<AskList>(Next()), ElementsAre(AskList{}));
  gangs_ = Gangs("1f3a");
  came(JobState::kPending);
  gangs_.OnListed(40, now_, OursOf("1f3a", {Job(40, JobState::kPending)}), now_);
  EXPECT_THAT(Of<AskList>(Next()), ElementsAre(AskList{})) << "its agents are here, and Slurm is behind";
}

TEST_F(GangsTest, SaysWhyItWaits) {
  Submitted();
  EXPECT_THAT(Of<SayWait>(List({Job(40, JobState::kPending, kFirst, "Resources")})),
              ElementsAre(SayWait{kKey}));
  EXPECT_EQ(Reason(), "The nodes that it needs are busy with other jobs.");
  EXPECT_THAT(Of<SayWait>(List({Job(40, JobState::kPending, kFirst, "Resources")})), IsEmpty());
}

TEST_F(GangsTest, AnUnansweredSubmissionIsLookedForBeforeAnotherOne) {
  gangs_.Want({.key = kKey, .slots = 2}, now_);
  Next();
  gangs_.OnNotSubmitted(kFirst, Failure::kNoAnswer, "Socket timed out", now_);
  EXPECT_EQ(Reason(), "Slurm's controller does not answer (Socket timed out).");
  List({});
  Pass(5);
  List({});
  EXPECT_THAT(Of<Submit>(Next()), IsEmpty()) << "it may still come up";
  List({Job(41, JobState::kPending, kFirst, "Priority")});
  gangs_.OnAttached(kFirst, 0, "node1", now_);
  gangs_.OnAttached(kFirst, 1, "node1", now_);
  EXPECT_THAT(Of<GiveRoom>(List({Job(41, JobState::kRunning)})), ElementsAre(GiveRoom{kFirst}));
}

TEST_F(GangsTest, WhatSlurmForgotIsSubmittedAgainAndItsAgentsEnd) {
  Submitted();
  List({Job(40, JobState::kPending, kFirst, "Priority")});
  List({});
  Pass(11);
  const auto actions = List({});
  EXPECT_THAT(Of<VoidTicket>(actions), ElementsAre(VoidTicket{kFirst}));
  EXPECT_FALSE(gangs_.IsCurrent(kFirst));
  Pass(3);
  EXPECT_THAT(Of<Submit>(Next()), ElementsAre(Submit{kSecond}));
  gangs_.OnSubmitted(kSecond, 40, now_);
  EXPECT_THAT(Of<CancelJobs>(List({Job(39, JobState::kRunning), Job(40, JobState::kPending, kSecond)})),
              ElementsAre(CancelJobs{"ty-1f3a-7-1", {39}}))
      << "the forgotten one came up again";
}

TEST_F(GangsTest, AnIdAloneProvesNothing) {
  Submitted();
  gangs_.OnAttached(kFirst, 0, "node1", now_);
  gangs_.OnAttached(kFirst, 1, "node1", now_);
  ListedJob other = Job(40, JobState::kRunning);
  other.name = "somebody_else";
  EXPECT_THAT(Of<GiveRoom>(List({other})), IsEmpty());
  EXPECT_THAT(Of<CancelJobs>(List({other})), IsEmpty()) << "it is not ours";
}

TEST_F(GangsTest, HowItEndsInSlurmIsSaid) {
  struct Row {
    JobState state;
    placement::RoomEnd kind;
    const char* reason;
  };
  for (const auto& [state, kind, reason] :
       {Row{JobState::kNodeLost, placement::RoomEnd::kLost, "The job 40 of Slurm has lost a node (node1)."},
        Row{JobState::kPreempted, placement::RoomEnd::kPreempted,
            "The job 40 of Slurm had to make room for a more important one."},
        Row{JobState::kTimeLimit, placement::RoomEnd::kTimeLimit,
            "The job 40 of Slurm has reached its time limit."},
        Row{JobState::kOutOfMemory, placement::RoomEnd::kOutOfMemory,
            "The job 40 of Slurm used more memory than it asked for."},
        Row{JobState::kCancelled, placement::RoomEnd::kCancelled,
            "The job 40 of Slurm was cancelled in Slurm."},
        Row{JobState::kCancelledAtStart, placement::RoomEnd::kCancelled,
            "The job 40 of Slurm was cancelled in Slurm."},
        Row{JobState::kForgotten, placement::RoomEnd::kLost,
            "The job 40 of Slurm was cancelled by Slurm itself, whose controller started again and had "
            "forgotten it."},
        Row{JobState::kOver, placement::RoomEnd::kLost,
            "The job 40 of Slurm has ended before its work was done (STATE)."}}) {
    gangs_ = Gangs("1f3a");
    is_asked_ = false;
    Granted();
    EXPECT_THAT(Of<TakeBack>(List({Job(40, state)})), ElementsAre(TakeBack{kKey, kind, reason}));
    EXPECT_FALSE(gangs_.IsCurrent(kFirst));
  }
}

TEST_F(GangsTest, WhatIsCancelledInTheLineIsCancelled) {
  Submitted();
  EXPECT_THAT(Of<TakeBack>(List({Job(40, JobState::kCancelled)})),
              ElementsAre(TakeBack{kKey, placement::RoomEnd::kCancelled,
                                   "The job 40 of Slurm was cancelled in Slurm."}));
}

TEST_F(GangsTest, WhatSlurmItselfCancelledIsSubmittedAgain) {
  for (const JobState state : {JobState::kForgotten, JobState::kCancelledAtStart}) {
    gangs_ = Gangs("1f3a");
    is_asked_ = false;
    Submitted();
    EXPECT_THAT(Of<TakeBack>(List({Job(40, state)})), IsEmpty());
    Pass(60);
    EXPECT_THAT(Of<Submit>(Next()), ElementsAre(Submit{kSecond}));
  }
}

TEST_F(GangsTest, WhoseComponentsEndIsCancelledWhole) {
  Granted();
  const auto actions = List({Job(40, JobState::kNodeLost), Job(41, JobState::kRunning)});
  EXPECT_THAT(Of<CancelJobs>(actions), ElementsAre(CancelJobs{"ty-1f3a-7-1", {41}}));
  EXPECT_EQ(Of<TakeBack>(actions).size(), 1U);
}

TEST_F(GangsTest, HowAJobEndsIsWaitedFor) {
  Granted();
  EXPECT_THAT(Of<TakeBack>(List({Job(40, JobState::kEnding)})), IsEmpty());
  EXPECT_EQ(Of<TakeBack>(List({Job(40, JobState::kPreempted)})).at(0).kind, placement::RoomEnd::kPreempted);
}

TEST_F(GangsTest, AgentsThatDoNotComeAreNotWaitedForForEver) {
  Submitted();
  gangs_.OnAttached(kFirst, 0, "node1", now_);
  List({Job(40, JobState::kRunning)});
  Pass(121);
  const auto actions = List({Job(40, JobState::kRunning)});
  EXPECT_THAT(Of<CancelJobs>(actions), ElementsAre(CancelJobs{"ty-1f3a-7-1", {40}}));
  EXPECT_EQ(Reason(), "The job started in Slurm, and 1 of 2 agents reached the server (node1).");
}

TEST_F(GangsTest, ADeadAgentIsALostSlot) {
  Granted();
  gangs_.OnDetached(kFirst, 1, true, now_);
  EXPECT_THAT(Of<TakeBack>(List({Job(40, JobState::kRunning)})), IsEmpty());
  Pass(31);
  EXPECT_EQ(Of<TakeBack>(List({Job(40, JobState::kRunning)})).at(0).kind, placement::RoomEnd::kLost);
}

TEST_F(GangsTest, AnAgentThatComesBackIsNot) {
  Granted();
  gangs_.OnDetached(kFirst, 1, true, now_);
  Pass(20);
  gangs_.OnAttached(kFirst, 1, "node1", now_);
  Pass(31);
  EXPECT_THAT(Of<TakeBack>(List({Job(40, JobState::kRunning)})), IsEmpty());
}

TEST_F(GangsTest, WhoseAgentsEndBeforeTheTimeLimitHasReachedIt) {
  Granted();
  gangs_.OnTimeLimit(kSecond);
  gangs_.OnTimeLimit(kFirst);
  const auto over = Of<TakeBack>(List({Job(40, JobState::kOver)}));
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].kind, placement::RoomEnd::kTimeLimit);
  EXPECT_EQ(over[0].reason, "The job 40 of Slurm has reached its time limit.");
}

TEST_F(GangsTest, TheFirstAgentThatEndsBeforeTheTimeLimitDoesSoForAll) {
  Granted();
  gangs_.OnTimeLimit(kFirst);
  gangs_.OnDetached(kFirst, 1, true, now_);
  Pass(31);
  const auto over = Of<TakeBack>(List({Job(40, JobState::kRunning)}));
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].kind, placement::RoomEnd::kTimeLimit);
}

TEST_F(GangsTest, ANodeThatSlurmTakesFromTheJobIsLost) {
  Granted();
  gangs_.OnDetached(kFirst, 1, false, now_);
  ListedJob job = Job(40, JobState::kRunning);
  job.nodes = "node[2-3]";
  const auto over = Of<TakeBack>(List({job}));
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].kind, placement::RoomEnd::kLost);
  EXPECT_EQ(over[0].reason, "The job 40 of Slurm has lost a node (node1).");
}

TEST_F(GangsTest, AnAgentThatDoesNotEndItsProgramLosesItsJob) {
  Granted();
  gangs_.OnUnheard(kFirst, "the agent does not answer", now_);
  const auto actions = gangs_.Next(now_);
  const auto over = Of<TakeBack>(actions);
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].kind, placement::RoomEnd::kLost);
  EXPECT_EQ(over[0].reason, "the agent does not answer");
  EXPECT_EQ(Of<CancelJobs>(actions).size(), 1U);
  gangs_.OnUnheard(kFirst, "again", now_);
  EXPECT_THAT(Of<TakeBack>(gangs_.Next(now_)), IsEmpty());
}

TEST_F(GangsTest, ASilentAgentIsLeftToSlurm) {
  Granted();
  gangs_.OnDetached(kFirst, 1, false, now_);
  Pass(300);
  EXPECT_THAT(Of<TakeBack>(List({Job(40, JobState::kRunning)})), IsEmpty());
}

TEST_F(GangsTest, WhatIsReleasedLeavesByItselfAndIsCompleted) {
  Granted();
  gangs_.Release(kKey, now_);
  const std::vector<GangAction> actions = Next();
  EXPECT_THAT(Of<VoidTicket>(actions), ElementsAre(VoidTicket{kFirst}));
  EXPECT_THAT(Of<CancelJobs>(actions), IsEmpty());
  EXPECT_THAT(Of<CancelJobs>(List({Job(40, JobState::kRunning)})), IsEmpty());
  EXPECT_THAT(Of<NothingLives>(List({Job(40, JobState::kOver)})), ElementsAre(NothingLives{kFirst}));
  Pass(11);
  EXPECT_THAT(Of<Forget>(List({Job(40, JobState::kOver)})), ElementsAre(Forget{kKey}));
  EXPECT_EQ(gangs_.size(), 0U);
}

TEST_F(GangsTest, WhatDoesNotLeaveIsCancelledUntilNothingIsLeft) {
  Granted();
  gangs_.Release(kKey, now_);
  Pass(16);
  EXPECT_THAT(Of<CancelJobs>(List({Job(40, JobState::kRunning)})),
              ElementsAre(CancelJobs{"ty-1f3a-7-1", {40}}));
  EXPECT_THAT(Of<CancelJobs>(List({Job(40, JobState::kRunning)})),
              ElementsAre(CancelJobs{"ty-1f3a-7-1", {40}}))
      << "once more";
  Pass(11);
  EXPECT_THAT(Of<Forget>(List({Job(40, JobState::kCancelled)})), ElementsAre(Forget{kKey}));
  EXPECT_EQ(gangs_.size(), 0U);
}

TEST_F(GangsTest, ASubmissionThatIsReleasedWhileItIsOnItsWayIsCancelled) {
  gangs_.Want({.key = kKey, .slots = 2}, now_);
  Next();
  gangs_.Release(kKey, now_);
  gangs_.OnSubmitted(kFirst, 40, now_);
  EXPECT_THAT(Of<CancelJobs>(Next()), ElementsAre(CancelJobs{"ty-1f3a-7-1", {40}}));
}

TEST_F(GangsTest, WhatItCancelledItselfNobodyElseDid) {
  gangs_.Want({.key = {.job_uid = 8, .try_number = 1}, .slots = 1}, now_);
  List({Job(40,
            JobState::kRunning)});  // a job without a gang, which is cancelled; then another job has its id
  Submitted();
  EXPECT_THAT(Of<TakeBack>(List({Job(40, JobState::kCancelled)})), IsEmpty());
  Pass(3);
  EXPECT_THAT(Of<Submit>(Next()), Contains(Submit{kSecond}));
}

TEST_F(GangsTest, WhatNobodyOwnsIsCancelled) {
  gangs_.Want({.key = {.job_uid = 8, .try_number = 1}, .slots = 1}, now_);
  EXPECT_THAT(Of<CancelJobs>(List({Job(12, JobState::kPending), Job(13, JobState::kCancelled)})),
              ElementsAre(CancelJobs{"ty-1f3a-7-1", {12}}));
}

TEST_F(GangsTest, OfAPreviousServerIsFoundAgain) {
  gangs_.Want({.key = kKey, .slots = 2, .last_submission = 1}, now_);
  EXPECT_THAT(Of<Submit>(Next()), IsEmpty());
  gangs_.OnListed(std::nullopt, now_, OursOf("1f3a", {Job(40, JobState::kRunning)}), now_);
  gangs_.OnAttached(kFirst, 0, "node1", now_);
  gangs_.OnAttached(kFirst, 1, "node1", now_);
  EXPECT_THAT(Of<GiveRoom>(List({Job(40, JobState::kRunning)})), ElementsAre(GiveRoom{kFirst}));
}

TEST_F(GangsTest, WhatAPreviousServerGrantedIsKept) {
  WantWithRoomOnRecord();
  EXPECT_TRUE(gangs_.IsCurrent(kFirst));
  EXPECT_THAT(Of<GiveRoom>(List({Job(40, JobState::kRunning)})), IsEmpty());
  EXPECT_EQ(Of<TakeBack>(List({Job(40, JobState::kNodeLost)})).size(), 1U);
}

TEST_F(GangsTest, AnAgentThatDoesNotComeToTheNextServerIsLost) {
  WantWithRoomOnRecord();
  gangs_.OnAttached(kFirst, 0, "node1", now_);
  Pass(300);
  EXPECT_THAT(Of<TakeBack>(List({Job(40, JobState::kRunning)})), IsEmpty());
  Pass(31);
  const auto lost = Of<TakeBack>(List({Job(40, JobState::kRunning)}));
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].reason, "The agent of slot 1 of the job is gone (node1).");
}

TEST_F(GangsTest, ADeadControllerChangesNothing) {
  Granted();
  for (int i = 0; i < 20; ++i) {
    Next();
    gangs_.OnListFailed(std::nullopt, "Unable to contact slurm controller", now_);
    Pass(61);
  }
  EXPECT_THAT(Of<TakeBack>(List({})), IsEmpty()) << "it has just come back";
  Pass(11);
  EXPECT_EQ(Of<TakeBack>(List({})).size(), 1U);
}

TEST_F(GangsTest, FailuresAreTriedAgainLaterAndLater) {
  gangs_.Want({.key = kKey, .slots = 2}, now_);
  std::vector<std::int64_t> pauses;
  for (int i = 1; i <= 9; ++i) {
    SysTime since = now_;
    while (Of<Submit>(Next()).empty()) Pass(1);
    pauses.push_back((now_ - since) / seconds(1));
    gangs_.OnNotSubmitted({kKey, i}, Failure::kNever, "Requested node configuration is not available", now_);
  }
  EXPECT_THAT(pauses, ElementsAre(0, 2, 4, 8, 16, 32, 64, 128, 256));
  EXPECT_EQ(Reason(), "The cluster cannot hold the job (Requested node configuration is not available).");
}

TEST_F(GangsTest, AListThatTakesLongIsAskedForLessOften) {
  Submitted();
  const auto pause_after = [this](int took_s) {
    for (int s = 0; s < 100; ++s) {
      Next();
      if (is_asked_) break;
      Pass(1);
    }
    is_asked_ = false;
    const SysTime asked = now_;
    Pass(took_s);
    gangs_.OnListed(std::nullopt, asked, OursOf("1f3a", {Job(40, JobState::kPending)}), now_);
    return *gangs_.WakeAt() - asked;
  };
  EXPECT_EQ(pause_after(0), kListPause);
  EXPECT_EQ(pause_after(1), seconds(10));
  EXPECT_EQ(pause_after(9), kQuietPause);
  EXPECT_EQ(pause_after(0), kListPause);
}

TEST_F(GangsTest, AsksForAFewOfManyThatBeginAtOnce) {
  constexpr int kMany = kAskingOneMax + 2;
  const auto first = [](int uid) { return Submission{{.job_uid = uid, .try_number = 1}, 1}; };
  const auto running = [&first](int uid) { return Job(uid, JobState::kRunning, first(uid)); };
  for (int uid = 1; uid <= kMany; ++uid) {
    gangs_.Want({.key = first(uid).gang, .slots = 1}, now_);
    Next();
    gangs_.OnSubmitted(first(uid), uid, now_);
  }
  for (int uid = 1; uid <= kMany; ++uid) gangs_.OnAttached(first(uid), 0, "node1", now_);
  EXPECT_EQ(Of<AskList>(Next()).size(), static_cast<std::size_t>(kAskingOneMax));
  EXPECT_THAT(Of<AskList>(Next()), IsEmpty());
  gangs_.OnListed(1, now_, OursOf("1f3a", {running(1)}), now_);
  EXPECT_THAT(Next(), testing::UnorderedElementsAre(GangAction(GiveRoom{first(1)}),
                                                    GangAction(AskList{.id = kAskingOneMax + 1})));
  std::vector<ListedJob> all;
  for (int uid = 1; uid <= kMany; ++uid) all.push_back(running(uid));
  gangs_.OnListed(std::nullopt, now_, OursOf("1f3a", all), now_);
  EXPECT_EQ(Of<GiveRoom>(Next()).size(), static_cast<std::size_t>(kMany - 1));
  gangs_.OnListFailed(2, "Socket timed out", now_);
  EXPECT_THAT(Of<AskList>(Next()), IsEmpty()) << "the list has told of the last one";
}

class LongList : public GangsTest {
 protected:
  static constexpr int kMany = 2 * kLooksMax + kLooksMax / 2;

  static Submission FirstOf(int uid) { return {{.job_uid = uid, .try_number = 1}, 1}; }
  LongList() {
    for (int uid = 1; uid <= kMany; ++uid) gangs_.Want({.key = FirstOf(uid).gang, .slots = 1}, now_);
    for (int calls = 0; submitted_ < kMany && calls < kMany; ++calls) {
      for (const Submit& submit : Of<Submit>(Next())) {
        gangs_.OnSubmitted(submit.submission, submit.submission.gang.job_uid, now_);
        ++submitted_;
      }
    }
    EXPECT_EQ(submitted_, kMany);
  }
  /// The list of all their jobs, and of one job that belongs to no gang.
  std::vector<ListedJob> All(const std::string& reason) {
    std::vector<ListedJob> jobs{Job(kMany + 1, JobState::kPending, FirstOf(kMany + 1), reason)};
    for (int uid = kMany; uid >= 1; --uid) jobs.push_back(Job(uid, JobState::kPending, FirstOf(uid), reason));
    return jobs;
  }

  int submitted_ = 0;
};

TEST_F(LongList, IsLookedAtInParts) {
  std::vector<GangAction> actions = List(All("Resources"));
  EXPECT_THAT(Of<SayWait>(actions), testing::SizeIs(2 * kLooksMax)) << "what came, and one call of Next";
  EXPECT_LE(*gangs_.WakeAt(), now_) << "there is more to do";
  EXPECT_EQ(gangs_.WaitOf(FirstOf(kMany).gang)->reason, "It is being submitted to Slurm.");
  gangs_.Release(FirstOf(kMany).gang, now_);  // and the rest of the list shows that it waits
  actions = Next();
  EXPECT_THAT(Of<SayWait>(actions), testing::SizeIs(kMany - 2 * kLooksMax - 1));
  EXPECT_GT(*gangs_.WakeAt(), now_);
  EXPECT_EQ(gangs_.WaitOf(FirstOf(kMany).gang), std::nullopt);
  EXPECT_THAT(Of<CancelJobs>(actions),
              testing::UnorderedElementsAre(
                  CancelJobs{JobName("1f3a", FirstOf(kMany).gang), {kMany}},  // by Release
                  CancelJobs{JobName("1f3a", FirstOf(kMany).gang), {kMany}},  // it still lives
                  CancelJobs{JobName("1f3a", FirstOf(kMany + 1).gang), {kMany + 1}}));
  EXPECT_THAT(Of<SayWait>(List(All("Resources"))), IsEmpty());
}

TEST_F(LongList, ThatDoesNotComeIsSaidInParts) {
  for (int s = 0; !is_asked_ && s < 100; ++s, Pass(1)) Next();
  gangs_.OnListFailed(std::nullopt, "Socket timed out", now_);
  EXPECT_THAT(Of<SayWait>(Next()), testing::SizeIs(2 * kLooksMax));
  EXPECT_THAT(Of<SayWait>(Next()), testing::SizeIs(kMany - 2 * kLooksMax));
  EXPECT_THAT(Of<SayWait>(Next()), IsEmpty());
  EXPECT_EQ(gangs_.WaitOf(FirstOf(kMany).gang)->reason,
            "Slurm's controller does not answer (Socket timed out).");
}

}  // namespace
}  // namespace trainyard::slurm
