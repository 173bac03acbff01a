#include "control/views/job_tables.h"

#include "control/testing/world.h"

namespace trainyard::control {
namespace {

class JobTablesTest : public World {
 protected:
  JobTablesTest() {
    replicas_->SetScript([](const Manifest& manifest) {
      return FakeScript{.exit =
                            manifest.job_id().starts_with("stays") ? std::nullopt : std::optional(Exit(1))};
    });
  }
  v1::JobRows List(JobListQuery query) {
    query.project = "p";
    auto rows = Await(service_->tables().List(std::move(query)));
    EXPECT_TRUE(rows) << rows.error().message;
    return rows.value_or(v1::JobRows());
  }
  static std::vector<std::string> Ids(const v1::JobRows& rows) {
    std::vector<std::string> ids;
    for (const v1::JobRow& row : rows.jobs()) ids.push_back(row.job_id());
    return ids;
  }
  v1::JobTimeline Timeline(const std::string& job_id, std::int64_t after_seq = 0) {
    JobTables::TimelineQuery query{.job = {"p", job_id}, .after_seq = after_seq, .trial_id = {}};
    auto timeline = Await(service_->tables().Timeline(std::move(query)));
    EXPECT_TRUE(timeline) << timeline.error().message;
    return timeline.value_or(v1::JobTimeline());
  }
};

TEST_F(JobTablesTest, RowsAreTheJobsOfTheListInItsPages) {
  for (const char* id : {"a", "b", "c"}) {
    ASSERT_TRUE(Create(MakeJob(id)));
    ASSERT_TRUE(WaitForEnd(id, Job::FAILED));
  }
  const v1::JobRows first = List({.page_size = 2});
  EXPECT_THAT(Ids(first), ElementsAre("c", "b"));
  EXPECT_NE(first.resume_token(), "");
  EXPECT_THAT(first.jobs(0).reason(), HasSubstr("exited with a non-zero status of 1."));
  const v1::JobRows second = List({.page_size = 2, .page_token = first.next_page_token()});
  EXPECT_THAT(Ids(second), ElementsAre("a"));
  EXPECT_EQ(second.resume_token(), "") << "not of the first page";
  EXPECT_EQ(second.next_page_token(), "");
  EXPECT_THAT(Ids(List({.filter = "jobId=b"})), ElementsAre("b"));
  JobListQuery bad{.project = "p", .filter = "nothing="};
  EXPECT_EQ(Await(service_->tables().List(bad)).error().field, "filter");
}

TEST_F(JobTablesTest, SummarizesWhatMatches) {
  for (const char* id : {"a", "b", "stays"}) {
    Job job = MakeJob(id);
    (*job.mutable_labels())["team"] = id == std::string("a") ? "x" : "y";
    ASSERT_TRUE(Create(job));
    if (id != std::string("stays")) ASSERT_TRUE(WaitForEnd(id, Job::FAILED));
  }
  ASSERT_TRUE(WaitForState("stays", Job::RUNNING));
  const v1::JobSummary all = Await(service_->tables().Summarize("p", "")).value();
  EXPECT_EQ(all.jobs(), 3);
  EXPECT_FALSE(all.more());
  EXPECT_EQ(all.by_state().at("FAILED"), 2);
  EXPECT_EQ(all.by_state().at("RUNNING"), 1);
  EXPECT_EQ(all.labels(0).value(), "y");
  const v1::JobSummary some = Await(service_->tables().Summarize("p", "labels.team=y")).value();
  EXPECT_EQ(some.jobs(), 2);
  EXPECT_EQ(Await(service_->tables().Summarize("p", "(")).error().field, "filter");
}

TEST_F(JobTablesTest, ATimelineSaysWhatTheJobWaitsFor) {
  if (cluster_) GTEST_SKIP() << "of this machine's own room";
  Job needs_a_gpu = MakeJob("b");
  needs_a_gpu.mutable_training_input()->set_scale_tier(ml::v1::TrainingInput::BASIC_GPU);
  ASSERT_TRUE(Create(needs_a_gpu));
  ASSERT_TRUE(RunUntil([&] { return !Await(service_->Describe({"p", "b"}))->waiting().reason().empty(); }));
  const std::string reason = Await(service_->Describe({"p", "b"}))->waiting().reason();
  const v1::JobTimeline waits = Timeline("b");
  ASSERT_EQ(waits.entries_size(), 1);
  EXPECT_EQ(waits.entries(0).kind(), "created");
  EXPECT_THAT(waits.entries(0).detail(), HasSubstr(reason));
  EXPECT_EQ(List({.filter = "jobId=b"}).jobs(0).reason(), reason);
  ASSERT_TRUE(Cancel("b"));
  ASSERT_TRUE(WaitForEnd("b", Job::CANCELLED));
  const v1::JobTimeline over = Timeline("b");
  EXPECT_EQ(over.entries(0).detail(), "");
  EXPECT_EQ(over.entries().rbegin()->kind(), "ended");
  const std::int64_t last = over.entries().rbegin()->seq();
  EXPECT_EQ(Timeline("b", last - 1).entries_size(), 1);
  EXPECT_TRUE(Timeline("b", last).entries().empty());
}

TEST_F(JobTablesTest, ATimelineOfNothingIsNotFound) {
  ASSERT_TRUE(Create(MakeJob("stays")));
  JobTables::TimelineQuery query{.job = {"p", "none"}, .after_seq = 0, .trial_id = {}};
  EXPECT_EQ(Await(service_->tables().Timeline(query)).error().code, Code::kNotFound);
  query = {.job = {"p", "stays"}, .after_seq = 0, .trial_id = "7"};
  EXPECT_EQ(Await(service_->tables().Timeline(query)).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace trainyard::control
