#include <gmock/gmock.h>

#include "rules/slurm/gangs.h"

/// When a gang's job counts as over, and an agent of a previous server as dead.
namespace trainyard::slurm {
namespace {

using std::chrono::seconds;

constexpr GangKey kKey{.job_uid = 7, .try_number = 1};
constexpr Submission kFirst{kKey, 1};

class GangsEndTest : public testing::Test {
 protected:
  /// The actions after a list that begins now. They are in the order in which they are performed.
  std::vector<GangAction> List(JobState state) {
    now_ += seconds(20);
    ListedJob job{.id = 40, .name = JobName("1f3a", kKey), .comment = Comment(kFirst), .state = state};
    gangs_.OnListed(std::nullopt, now_, OursOf("1f3a", {job}), now_);
    std::vector<GangAction> actions = gangs_.Next(now_);
    std::erase(actions, GangAction(AskList{}));
    return actions;
  }

  SysTime now_{std::chrono::hours(1'000)};
  Gangs gangs_{"1f3a"};
};

TEST_F(GangsEndTest, AJobThatIsCompletingMayStillHaveProcesses) {
  gangs_.Want({.key = kKey, .slots = 1, .last_submission = 1, .granted = true, .attached = {{0, "node1"}}},
              now_);
  gangs_.Release(kKey, now_);
  EXPECT_THAT(List(JobState::kRunning),
              testing::ElementsAre(GangAction(VoidTicket{kFirst}),
                                   GangAction(CancelJobs{.name = "ty-1f3a-7-1", .ids = {40}})));
  EXPECT_THAT(List(JobState::kEnding), testing::IsEmpty());
  EXPECT_THAT(List(JobState::kEnding), testing::IsEmpty());
  EXPECT_THAT(List(JobState::kCancelled),
              testing::ElementsAre(GangAction(NothingLives{kFirst}), GangAction(Forget{kKey})));
}

TEST_F(GangsEndTest, AgentsOfAPreviousServerThatGaveNoRoomHaveToConnectAgain) {
  gangs_.Want({.key = kKey, .slots = 2, .last_submission = 1, .attached = {{0, "node1"}, {1, "node1"}}},
              now_);
  const auto gives_room = testing::Contains(GangAction(GiveRoom{kFirst}));
  EXPECT_THAT(List(JobState::kRunning), testing::Not(gives_room)) << "they may be dead";
  gangs_.OnAttached(kFirst, 0, "node1", now_);
  EXPECT_THAT(List(JobState::kRunning), testing::Not(gives_room));
  now_ += kAttachMax;
  EXPECT_THAT(List(JobState::kRunning),
              testing::Contains(GangAction(CancelJobs{.name = "ty-1f3a-7-1", .ids = {40}})))
      << "one has not connected";
}

TEST_F(GangsEndTest, AJobThatAPreviousServerCancelledWasNotCancelledByAUser) {
  const auto end_after = [this](std::vector<std::int64_t> cancelled) {
    gangs_ = Gangs("1f3a");
    gangs_.Want({.key = kKey,
                 .slots = 1,
                 .last_submission = 1,
                 .granted = true,
                 .attached = {{0, "node1"}},
                 .cancelled = std::move(cancelled)},
                now_);
    std::optional<placement::RoomEnd> end;
    for (const GangAction& action : List(JobState::kCancelled))
      if (const auto* const taken = std::get_if<TakeBack>(&action)) end = taken->kind;
    return end;
  };
  EXPECT_EQ(end_after({40}), placement::RoomEnd::kLost);
  EXPECT_EQ(end_after({}), placement::RoomEnd::kCancelled);
}

TEST_F(GangsEndTest, WhetherAttemptsOfAReleasedGangLiveIsSaidToTheNextServerToo) {
  gangs_.Want({.key = kKey, .slots = 1, .last_submission = 1, .may_have_run = true}, now_);
  gangs_.Release(kKey, now_);
  EXPECT_THAT(List(JobState::kOver), testing::Contains(GangAction(NothingLives{kFirst})));
}

TEST_F(GangsEndTest, AGangThatIsWantedAgainIsSubmittedAnewOnceNothingOfItIsLeft) {
  gangs_.Want({.key = kKey, .slots = 1, .last_submission = 1}, now_);
  EXPECT_THAT(List(JobState::kPending), testing::Contains(GangAction(SayWait{kKey})));
  gangs_.Release(kKey, now_);
  gangs_.Want({.key = kKey, .slots = 1}, now_);
  EXPECT_FALSE(gangs_.IsCurrent(kFirst));
  EXPECT_EQ(gangs_.WaitOf(kKey)->reason, "Slurm still ends what the job had there before.");
  EXPECT_THAT(List(JobState::kEnding), testing::Not(testing::Contains(GangAction(Forget{kKey}))));
  EXPECT_THAT(List(JobState::kCancelled),
              testing::ElementsAre(GangAction(SayWait{kKey}), GangAction(Submit{{kKey, 2}})));
  EXPECT_EQ(gangs_.WaitOf(kKey)->reason, "It is being submitted to Slurm.");
}

TEST_F(GangsEndTest, AGangThatIsReleasedAgainIsForgotten) {
  gangs_.Want({.key = kKey, .slots = 1, .last_submission = 1}, now_);
  gangs_.Release(kKey, now_);
  gangs_.Want({.key = kKey, .slots = 1}, now_);
  gangs_.Release(kKey, now_);
  EXPECT_EQ(gangs_.WaitOf(kKey), std::nullopt);
  EXPECT_THAT(List(JobState::kCancelled), testing::Not(testing::Contains(GangAction(Forget{kKey}))));
  EXPECT_THAT(List(JobState::kCancelled), testing::ElementsAre(GangAction(Forget{kKey})));
}

TEST_F(GangsEndTest, ASubmissionThatIsAnsweredAfterItsGangWasForgottenIsCancelled) {
  gangs_.OnSubmitted(kFirst, 40, now_);
  EXPECT_THAT(gangs_.Next(now_),
              testing::ElementsAre(GangAction(CancelJobs{.name = "ty-1f3a-7-1", .ids = {40}})));
}

TEST_F(GangsEndTest, AListRequestedBeforeTheSubmissionWasAnsweredDoesNotProveTheJobGone) {
  gangs_.OnListed(std::nullopt, now_, {}, now_);  // the controller responds
  gangs_.Want({.key = kKey, .slots = 1}, now_);
  const std::vector<GangAction> submits = gangs_.Next(now_);
  ASSERT_THAT(submits, testing::Contains(GangAction(Submit{kFirst})));
  gangs_.Release(kKey, now_);
  const SysTime asked = now_ += seconds(15);
  gangs_.OnSubmitted(kFirst, 40, now_ += seconds(1));
  gangs_.OnListed(std::nullopt, asked, {}, now_);
  EXPECT_THAT(gangs_.Next(now_),
              testing::AllOf(testing::Contains(GangAction(CancelJobs{.name = "ty-1f3a-7-1", .ids = {40}})),
                             testing::Not(testing::Contains(GangAction(Forget{kKey})))));
  EXPECT_THAT(List(JobState::kCancelled), testing::ElementsAre(GangAction(Forget{kKey})));
}

TEST_F(GangsEndTest, AListRequestedBeforeTheSubmissionWasAnsweredIsNotTheFirstThatLacksTheJob) {
  gangs_.OnListed(std::nullopt, now_, {}, now_);  // the controller responds
  gangs_.Want({.key = kKey, .slots = 1}, now_);
  ASSERT_THAT(gangs_.Next(now_), testing::Contains(GangAction(Submit{kFirst})));
  const SysTime asked = now_ += seconds(15);
  gangs_.OnSubmitted(kFirst, 40, now_ += kSettle);
  gangs_.OnListed(std::nullopt, asked, {}, now_);
  gangs_.OnListed(std::nullopt, now_, {}, now_);
  EXPECT_THAT(gangs_.Next(now_), testing::Not(testing::Contains(GangAction(VoidTicket{kFirst}))));
  now_ += kSettle;
  gangs_.OnListed(std::nullopt, now_, {}, now_);
  EXPECT_THAT(gangs_.Next(now_), testing::Contains(GangAction(VoidTicket{kFirst}))) << "two lists lack it";
}

}  // namespace
}  // namespace trainyard::slurm
