#include "rules/slurm/job_list.h"

#include <gmock/gmock.h>

#include "base/wire/time.h"

namespace trainyard::slurm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kHeader = "JOBID|STATE|NODELIST|START_TIME|SUBMIT_TIME|NAME|COMMENT|REASON\n";

TEST(JobList, ReadsWhatSqueuePrints) {
  const std::string printed =
      std::string(kHeader) +
      "3|PENDING||N/A|N/A|ty-1f3a-17-1|trainyard:1|Resources\n"
      "2|RUNNING|node[1-2]|2026-11-20T18:02:37|2026-11-20T18:02:36|ty-1f3a-16-1|trainyard:1|None\n"
      "1|FAILED|node1|2026-11-20T18:02:37|2026-11-20T18:02:36|wrap|(null)|NonZeroExitCode\n"
      "4|PENDING||N/A|N/A|x|(null)|ReqNodeNotAvail, UnavailableNodes:node[3,5]\n";
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
                              "7|PENDING||N/A|N/A|a|b|c|d|Priority\n"
                              "8|PENDING||N/A|N/A|line\nbreak|(null)|Priority\n"
                              "|||\n\n"
                              "9|RUNNING|n1|N/A|N/A|ty-1f3a-1-1|trainyard:1|None";
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

SysTime At(const char* time) { return wire::ParseTime(time).value(); }

TEST(JobList, WhenTheControllerStarted) {
  EXPECT_EQ(ParseControllerStart("Configuration data as of 2026-11-28T19:20:00\n"
                                 "BatchStartTimeout       = 10 sec\n"
                                 "BOOT_TIME               = 2026-11-28T19:16:31\n"
                                 "CliFilterPlugins        = (null)\n"),
            At("2026-11-28T19:16:31Z"));
  for (const char* none : {"", "BOOT_TIME", "BOOT_TIME = N/A\n", "BootTime = 2026-11-28T19:16:31\n"})
    EXPECT_EQ(ParseControllerStart(none), std::nullopt) << none;
}

TEST(JobList, WhatSlurmItselfCancelledAfterItsStartIsTold) {
  const SysTime start = At("2026-11-28T19:16:31Z");
  struct Row {
    const char* list;  ///< state, nodes, start and submission
    JobState becomes;
  };
  for (const auto& [list, becomes] :
       {Row{"CANCELLED|n1|2026-11-28T19:16:31|2026-11-28T19:16:30", JobState::kForgotten},
        Row{"CANCELLED|n1|2026-11-28T19:17:31|2026-11-28T19:16:30", JobState::kForgotten},
        Row{"CANCELLED|n1|2026-11-28T19:16:33|2026-11-28T19:16:31", JobState::kCancelledAtStart},
        Row{"CANCELLED|n1|2026-11-28T19:16:30|2026-11-28T19:16:29", JobState::kCancelled},
        Row{"CANCELLED|n1|2026-11-28T19:17:32|2026-11-28T19:16:30", JobState::kCancelled},
        Row{"CANCELLED||2026-11-28T19:16:33|2026-11-28T19:16:30", JobState::kCancelled},  // while it waited
        Row{"CANCELLED|n1|N/A|2026-11-28T19:16:30", JobState::kCancelled},
        Row{"COMPLETED|n1|2026-11-28T19:16:31|2026-11-28T19:16:30", JobState::kOver}}) {
    std::vector<ListedJob> jobs =
        ParseJobList(std::string(kHeader) + "1|" + list + "|ty-1f3a-1-1|trainyard:1|None\n").value();
    MarkForgotten(jobs, start);
    EXPECT_EQ(jobs.at(0).state, becomes) << list;
  }
}

TEST(JobList, OnlyWhatStartedRecentlyIsWorthAQuestion) {
  const SysTime now = At("2026-11-28T19:20:00Z");
  const auto is_worth = [now](JobState state, SysTime started) {
    return MayBeCancelledBySlurm({.state = state, .nodes = "n1", .started = started}, now);
  };
  EXPECT_TRUE(is_worth(JobState::kCancelled, At("2026-11-28T19:16:31Z")));
  EXPECT_FALSE(is_worth(JobState::kCancelled, At("2026-11-28T19:10:00Z")));
  EXPECT_FALSE(is_worth(JobState::kCancelled, {})) << "it never started";
  EXPECT_FALSE(MayBeCancelledBySlurm({.state = JobState::kCancelled, .started = now}, now)) << "it waited";
  EXPECT_FALSE(is_worth(JobState::kOver, At("2026-11-28T19:16:31Z")));
}

}  // namespace
}  // namespace trainyard::slurm
