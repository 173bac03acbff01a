#include "rules/slurm/job_list.h"

#include <gmock/gmock.h>

namespace trainyard::slurm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kHeader = "JOBID|STATE|NODELIST|NAME|COMMENT|REASON\n";

TEST(JobList, ReadsWhatSqueuePrints) {
  const std::string printed = std::string(kHeader) +
                              "3|PENDING||ty-1f3a-17-1|trainyard:1|Resources\n"
                              "2|RUNNING|node[1-2]|ty-1f3a-16-1|trainyard:1|None\n"
                              "1|FAILED|node1|wrap|(null)|NonZeroExitCode\n"
                              "4|PENDING||x|(null)|ReqNodeNotAvail, UnavailableNodes:node[3,5]\n";
  EXPECT_THAT(
      ParseJobList(printed).value(),
      ElementsAre(
          ListedJob{.id = 3,
                    .name = "ty-1f3a-17-1",
                    .comment = "trainyard:1",
                    .state = JobState::kPending,
                    .state_text = "PENDING",
                    .nodes = "",
                    .reason = "Resources"},
          ListedJob{.id = 2,
                    .name = "ty-1f3a-16-1",
                    .comment = "trainyard:1",
                    .state = JobState::kRunning,
                    .state_text = "RUNNING",
                    .nodes = "node[1-2]",
                    .reason = "None"},
          ListedJob{
              .id = 1, .name = "wrap", .state_text = "FAILED", .nodes = "node1", .reason = "NonZeroExitCode"},
          ListedJob{.id = 4,
                    .name = "x",
                    .state = JobState::kPending,
                    .state_text = "PENDING",
                    .reason = "ReqNodeNotAvail, UnavailableNodes:node[3,5]"}));
}

TEST(JobList, NamesOfOthersCannotHideOurs) {
  const std::string printed = std::string(kHeader) +
                              "7|PENDING||a|b|c|d|Priority\n"
                              "8|PENDING||line\nbreak|(null)|Priority\n"
                              "|||\n\n"
                              "9|RUNNING|n1|ty-1f3a-1-1|trainyard:1|None";
  std::vector<std::int64_t> ids;
  for (const ListedJob& job : ParseJobList(printed).value()) ids.push_back(job.id);
  EXPECT_THAT(ids, ElementsAre(7, 9));
}

TEST(JobList, WithoutItsHeaderIsNone) {
  EXPECT_THAT(ParseJobList(kHeader).value(), IsEmpty());
  EXPECT_EQ(ParseJobList("").error().code, Code::kInternal);
  EXPECT_EQ(ParseJobList("<html>502</html>").error().message, "squeue printed no list: <html>502</html>");
}

TEST(JobState, OfEachKind) {
  EXPECT_EQ(ParseJobState("CONFIGURING"), JobState::kPending);
  EXPECT_EQ(ParseJobState("COMPLETING"), JobState::kEnding);
  EXPECT_EQ(ParseJobState("NODE_FAIL"), JobState::kNodeLost);
  EXPECT_EQ(ParseJobState("WHATEVER_COMES"), JobState::kOver);
  for (const JobState state : {JobState::kPending, JobState::kRunning, JobState::kSuspended})
    EXPECT_FALSE(HasEnded(state));
  EXPECT_TRUE(HasEnded(JobState::kEnding));
}

}  // namespace
}  // namespace trainyard::slurm
