#include "rules/slurm/job_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::slurm {
namespace {

TEST(JobName, IsFoundAgain) {
  const Submission submission{.gang = {.job_uid = 17, .try_number = 2}, .number = 3};
  EXPECT_EQ(JobName("1f3a", submission.gang), "ty-1f3a-17-2");
  EXPECT_EQ(Comment(submission), "trainyard:3");
  EXPECT_EQ(ParseNames("1f3a", "ty-1f3a-17-2", "trainyard:3"), submission);
}

TEST(JobName, OfOthersIsNoneOfOurs) {
  struct Row {
    const char* name;
    const char* comment;
  };
  for (const auto& [name, comment] :
       {Row{"ty-ffff-17-2", "trainyard:3"}, Row{"ty-1f3a-17-2", ""}, Row{"ty-1f3a-17-2", "trainyard:3x"},
        Row{"ty-1f3a-17-2", "trainyard:0"}, Row{"ty-1f3a-17", "trainyard:3"},
        Row{"ty-1f3a--17-2", "trainyard:3"}, Row{"ty-1f3a-17-2-1", "trainyard:3"},
        Row{"ty-1f3a-99999999999999999999-1", "trainyard:3"}, Row{"", ""}, Row{"bash", "trainyard:1"}})
    EXPECT_EQ(ParseNames("1f3a", name, comment), std::nullopt) << name << " " << comment;
}

TEST(AgentName, SaysTheSubmission) {
  const Submission submission{.gang = {.job_uid = 17, .try_number = 1}, .number = 2};
  EXPECT_EQ(AgentName(submission, 5), "17-1-2/5");
  EXPECT_EQ(AgentPrefix(submission), "17-1-2/");
  EXPECT_EQ(SubmissionOfAgent("17-1-2/5"), submission);
  for (const char* other : {"", "17-1-2", "17-1/5", "x", "17-0-2/5"})
    EXPECT_EQ(SubmissionOfAgent(other), std::nullopt) << other;
}

using testing::ElementsAre;

ListedJob JobOf(std::int64_t id, const Submission& submission) {
  return {.id = id, .name = JobName("1f3a", submission.gang), .comment = Comment(submission)};
}

TEST(OurJobs, InTheOrderOfTheirSubmissions) {
  const Submission second{{.job_uid = 7, .try_number = 1}, 2};
  const Submission first{{.job_uid = 7, .try_number = 1}, 1};
  const Submission later{{.job_uid = 17, .try_number = 1}, 1};
  const ListedJob theirs{.id = 5, .name = "ty-9999-7-1", .comment = "trainyard:1"};
  const ListedJob by_hand{.id = 6, .name = JobName("1f3a", first.gang), .comment = "mine"};
  const OurJobs ours =
      OursOf("1f3a", {JobOf(3, later), theirs, JobOf(9, second), by_hand, JobOf(8, second), JobOf(1, first)});
  EXPECT_THAT(ours.whose, ElementsAre(first, second, second, later));
  EXPECT_THAT(ours.jobs, ElementsAre(JobOf(1, first), JobOf(9, second), JobOf(8, second), JobOf(3, later)));
}

}  // namespace
}  // namespace trainyard::slurm
