#include "rules/slurm/reading.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace trainyard::slurm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr GangKey kSeven{.job_uid = 7, .try_number = 1};
constexpr GangKey kEight{.job_uid = 8, .try_number = 1};
constexpr GangKey kNine{.job_uid = 9, .try_number = 1};

ListedJob JobOf(std::int64_t id, const Submission& submission, JobState state = JobState::kPending) {
  return {.id = id, .name = JobName("1f3a", submission.gang), .comment = Comment(submission), .state = state};
}

std::vector<std::int64_t> IdsOf(std::span<const ListedJob> jobs) {
  std::vector<std::int64_t> ids;
  for (const ListedJob& job : jobs) ids.push_back(job.id);
  return ids;
}

TEST(ListReading, FindsThePresentSubmissionOfEachGangAndWhatNobodyOwns) {
  ListReading reading(OursOf("1f3a", {JobOf(1, {kSeven, 1}), JobOf(2, {kSeven, 2}), JobOf(3, {kSeven, 2}),
                                      JobOf(4, {kSeven, 3}, JobState::kOver), JobOf(5, {kSeven, 4}),
                                      JobOf(6, {kEight, 1}), JobOf(8, {kNine, 1}), JobOf(9, {kNine, 2})}),
                      {});
  Strangers strangers;
  EXPECT_EQ(reading.latest(), std::nullopt);
  EXPECT_EQ(reading.NextOwner(), kSeven);
  EXPECT_THAT(IdsOf(reading.Take({kSeven, 2}, strangers)), ElementsAre(2, 3));
  EXPECT_EQ(reading.latest(), kSeven);
  EXPECT_THAT(strangers, ElementsAre(Pair("ty-1f3a-7-1", ElementsAre(1, 5)))) << "4 has ended";
  strangers.clear();
  EXPECT_THAT(IdsOf(reading.Take({kNine, 0}, strangers)), IsEmpty()) << "it was not submitted yet";
  EXPECT_THAT(strangers,
              ElementsAre(Pair("ty-1f3a-8-1", ElementsAre(6)), Pair("ty-1f3a-9-1", ElementsAre(8, 9))));
  EXPECT_EQ(reading.NextOwner(), std::nullopt);
}

TEST(ListReading, WhatIsLeftIsNobodys) {
  ListReading reading(OursOf("1f3a", {JobOf(6, {kEight, 1}), JobOf(8, {kNine, 1}, JobState::kCancelled)}),
                      {});
  Strangers strangers;
  EXPECT_THAT(IdsOf(reading.Take({kSeven, 1}, strangers)), IsEmpty());
  EXPECT_THAT(strangers, IsEmpty());
  reading.TakeRest(strangers);
  EXPECT_THAT(strangers, ElementsAre(Pair("ty-1f3a-8-1", ElementsAre(6))));
}

using std::chrono::minutes;

class OwnCancelsTest : public testing::Test {
 protected:
  void Note(std::int64_t id) { cancels_.Note(std::vector{id}, now_); }
  [[nodiscard]] JobState Seen(std::int64_t id, JobState state) const {
    std::vector<ListedJob> jobs{{.id = id, .state = state}};
    cancels_.TellApart(jobs);
    return jobs.front().state;
  }

  SysTime now_{std::chrono::hours(1'000)};
  OwnCancels cancels_;
};

TEST_F(OwnCancelsTest, WhatWeCancelledIsJustOver) {
  Note(7);
  EXPECT_EQ(Seen(7, JobState::kCancelled), JobState::kOver);
  EXPECT_EQ(Seen(7, JobState::kNodeLost), JobState::kNodeLost) << "it ended before the cancellation came";
  EXPECT_EQ(Seen(8, JobState::kCancelled), JobState::kCancelled) << "somebody else's cancellation";
}

TEST_F(OwnCancelsTest, KeepsForAnHourAndNotForEver) {
  Note(7);
  now_ += minutes(50);
  Note(8);
  now_ += minutes(20);
  Note(9);
  EXPECT_EQ(Seen(8, JobState::kCancelled), JobState::kOver) << "after 20 minutes";
  now_ += minutes(61);
  Note(10);
  EXPECT_EQ(Seen(7, JobState::kCancelled), JobState::kCancelled) << "its id is another's by now";
  EXPECT_EQ(Seen(9, JobState::kCancelled), JobState::kOver) << "after 61 minutes";
}

}  // namespace
}  // namespace trainyard::slurm
