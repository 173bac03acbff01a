#include "rules/slurm/our_jobs.h"

#include <gmock/gmock.h>

namespace trainyard::slurm {
namespace {

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
