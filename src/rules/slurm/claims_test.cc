#include "rules/slurm/claims.h"

#include <gmock/gmock.h>

namespace trainyard::slurm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr GangKey kKey{.job_uid = 7, .try_number = 1};
constexpr Submission kFirst{kKey, 1};
constexpr Submission kSecond{kKey, 2};

ListedJob Job(std::int64_t id, JobState state, std::string nodes = "node[1-2]",
              const Submission& submission = kFirst) {
  return {.id = id,
          .name = JobName("1f3a", submission.gang),
          .comment = Comment(submission),
          .state = state,
          .state_text = "STATE",
          .nodes = std::move(nodes)};
}
OurJobs List(std::vector<ListedJob> jobs) { return OursOf("1f3a", std::move(jobs)); }

class ClaimsTest : public testing::Test {
 protected:
  std::vector<CancelJobs> Hear(std::vector<ListedJob> jobs, bool all = true) {
    heard_ = List(std::move(jobs));
    return claims_.OnListed(all, heard_);
  }
  Claims claims_;
  OurJobs heard_;
};

TEST_F(ClaimsTest, AreRightOnANodeOfAJobThatRuns) {
  claims_.OnSubmitted(kFirst, 40, 1);
  EXPECT_EQ(claims_.IdOf(kFirst), 40);
  EXPECT_EQ(claims_.ClaimOf(kFirst, "node1"), Claim::kEarly);
  for (const JobState state :
       {JobState::kPending, JobState::kSuspended, JobState::kEnding, JobState::kOver}) {
    Hear({Job(40, state)});
    EXPECT_EQ(claims_.ClaimOf(kFirst, "node1"), Claim::kEarly);
  }
  Hear({Job(40, JobState::kRunning)}, false);
  EXPECT_EQ(claims_.ClaimOf(kFirst, "node1"), Claim::kRight);
  EXPECT_EQ(claims_.ClaimOf(kFirst, "node3"), Claim::kElsewhere);
  EXPECT_EQ(claims_.ClaimOf(kFirst, ""), Claim::kElsewhere);
  EXPECT_EQ(claims_.ClaimOf(kSecond, "node1"), Claim::kEarly);
  Hear({}, false);
  EXPECT_EQ(claims_.ClaimOf(kFirst, "node1"), Claim::kRight) << "that list was of another job";
  Hear({});
  EXPECT_EQ(claims_.ClaimOf(kFirst, "node1"), Claim::kEarly) << "it is gone";
  Hear({Job(40, JobState::kRunning)});
  claims_.Forget(kKey);
  EXPECT_EQ(claims_.ClaimOf(kFirst, "node1"), Claim::kEarly);
}

TEST_F(ClaimsTest, AllComponentsHaveToRun) {
  claims_.OnSubmitted(kFirst, 40, 2);
  Hear({Job(40, JobState::kRunning, "node1"), Job(41, JobState::kPending, "")});
  EXPECT_EQ(claims_.ClaimOf(kFirst, "node1"), Claim::kEarly);
  Hear({Job(40, JobState::kRunning, "node1"), Job(41, JobState::kRunning, "node2")});
  EXPECT_EQ(claims_.ClaimOf(kFirst, "node2"), Claim::kRight);
}

TEST_F(ClaimsTest, AJobWithOurNamesAndAnotherIdIsNotOurs) {
  claims_.OnSubmitted(kFirst, 40, 1);
  const auto others = Hear({Job(40, JobState::kRunning, "node1"), Job(41, JobState::kRunning, "node9"),
                            Job(39, JobState::kCancelled, "node8")});
  EXPECT_THAT(others, ElementsAre(CancelJobs{.name = JobName("1f3a", kKey), .ids = {41}}));
  EXPECT_EQ(claims_.ClaimOf(kFirst, "node9"), Claim::kElsewhere);
  EXPECT_EQ(claims_.ClaimOf(kFirst, "node1"), Claim::kRight);
  EXPECT_THAT(heard_.jobs, ElementsAre(Job(40, JobState::kRunning, "node1"))) << "nobody else hears of them";
  EXPECT_THAT(heard_.whose, ElementsAre(kFirst));
  Hear({Job(41, JobState::kRunning, "node9")});
  EXPECT_EQ(claims_.ClaimOf(kFirst, "node9"), Claim::kEarly);
}

TEST_F(ClaimsTest, WithoutAnIdNamesCount) {
  EXPECT_EQ(claims_.ClaimOf(kFirst, "node1"), Claim::kEarly);
  EXPECT_EQ(claims_.IdOf(kFirst), std::nullopt);
  EXPECT_THAT(Hear({Job(40, JobState::kRunning)}), IsEmpty());
  EXPECT_EQ(claims_.ClaimOf(kFirst, "node1"), Claim::kRight);
}

}  // namespace
}  // namespace trainyard::slurm
