#include "rules/slurm/reading.h"

#include <gmock/gmock.h>

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

TEST(Reading, FindsThePresentSubmissionOfEachGangAndWhatNobodyOwns) {
  Reading reading(OursOf("1f3a", {JobOf(1, {kSeven, 1}), JobOf(2, {kSeven, 2}), JobOf(3, {kSeven, 2}),
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

TEST(Reading, WhatIsLeftIsNobodys) {
  Reading reading(OursOf("1f3a", {JobOf(6, {kEight, 1}), JobOf(8, {kNine, 1}, JobState::kCancelled)}), {});
  Strangers strangers;
  EXPECT_THAT(IdsOf(reading.Take({kSeven, 1}, strangers)), IsEmpty());
  EXPECT_THAT(strangers, IsEmpty());
  reading.TakeRest(strangers);
  EXPECT_THAT(strangers, ElementsAre(Pair("ty-1f3a-8-1", ElementsAre(6))));
}

}  // namespace
}  // namespace trainyard::slurm
