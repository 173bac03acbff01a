#include "control/intake/job_quotas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::control {
namespace {

v1::JobRecord Job(const std::string& project, const std::string& job_id, const std::string& creator = "") {
  v1::JobRecord job;
  job.set_project(project);
  job.mutable_job()->set_job_id(job_id);
  job.set_creator(creator);
  return job;
}

class JobQuotasTest : public testing::Test {
 protected:
  JobQuotasTest() {
    for (const v1::JobRecord& job : there_) unfinished_.push_back(&job);
  }
  Status Check(const std::vector<std::string>& quotas, const placement::QuotaDemand& demand = {},
               std::string_view engine = placement::kLocalEngine) {
    return CheckJobQuotas(
        placement::Quotas::Parse(quotas).value(),
        {.asking = asking_, .demand = demand, .engine = engine, .bytes = &bytes_, .unfinished = unfinished_});
  }

  v1::JobRecord asking_ = Job("research", "new", "user:ann");
  std::vector<v1::JobRecord> there_ = {Job("research", "a", "user:bob"), Job("research", "b", "user:ann"),
                                       Job("other", "c", "user:ann")};
  std::vector<const v1::JobRecord*> unfinished_;
  ProjectBytes bytes_{.logs = {{"research", 2'000}}, .buckets = [](const std::string&) { return 5'000; }};
};

TEST_F(JobQuotasTest, CountsUnfinishedJobsOfTheProject) {
  EXPECT_TRUE(Check({"project:research:unfinished-jobs=3"}));
  const Status refused = Check({"project:*:unfinished-jobs=2"});
  ASSERT_FALSE(refused);
  const std::string description =
      "The request for 1 job exceeds the allowed maximum of 2 unfinished jobs. a, b have not ended.";
  EXPECT_EQ(refused.error(),
            (Error{.code = Code::kResourceExhausted,
                   .message = "Quota failure for project research. " + description +
                              " The server's operator sets it: trainyard serve --quota "
                              "project:*:unfinished-jobs=2.",
                   .field = {},
                   .violations = {{.field = "project:research", .description = description}}}));
}

TEST_F(JobQuotasTest, APrincipalsCountInAllProjectsWithoutTheirNames) {
  EXPECT_TRUE(Check({"user:ann:unfinished-jobs=3", "user:bob:unfinished-jobs=0"}));
  const Status refused = Check({"user:*:unfinished-jobs=2"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().violations[0].description,
            "The request for 1 job exceeds the allowed maximum of 2 unfinished jobs. b and 1 job of other "
            "projects have not ended.");
  asking_.clear_creator();
  EXPECT_TRUE(Check({"user:*:unfinished-jobs=0"})) << "nobody was asked who it is";
}

TEST_F(JobQuotasTest, RefusesWhatCouldNeverRun) {
  EXPECT_TRUE(Check({"project:*:gpus=4"}, {{"gpus", 4}, {"nvidia-tesla-t4", 4}}));
  const Status refused = Check({"project:*:gpus=4", "project:*:nvidia-tesla-t4=8"}, {{"gpus", 6}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().violations[0].description,
            "The request for 6 GPUs exceeds the allowed maximum of 4 GPUs.");
  EXPECT_FALSE(Check({"project:*:jobs=0"}));
  EXPECT_TRUE(Check({"project:*:jobs=1"})) << "it waits";
}

TEST_F(JobQuotasTest, TheQuotasAreThoseOfTheEngineThatItAsks) {
  const std::vector<std::string> quotas{"project:*:gpus=2", "project:*:gpus@slurm=16",
                                        "project:*:jobs@local=0"};
  EXPECT_TRUE(Check(quotas, {{"gpus", 16}}, placement::kSlurmEngine));
  const Status refused = Check(quotas, {{"gpus", 17}}, placement::kSlurmEngine);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::EndsWith("--quota project:*:gpus@slurm=16."));
  EXPECT_FALSE(Check(quotas, {{"gpus", 3}}));
  EXPECT_FALSE(Check(quotas)) << "no job ever runs here";
}

TEST_F(JobQuotasTest, BytesThatAreThereStandInTheWay) {
  EXPECT_TRUE(Check({"project:*:bucket-bytes=5001", "project:*:log-bytes=2001"}));
  const Status buckets = Check({"project:*:bucket-bytes=5000"});
  ASSERT_FALSE(buckets);
  EXPECT_EQ(
      buckets.error().violations[0].description,
      "The request for 1 job exceeds the allowed maximum of 4.9 KiB of objects in buckets. The project has "
      "4.9 KiB: remove some, then create the job.");
  EXPECT_FALSE(Check({"project:*:log-bytes=2000"}));
  bytes_.logs.clear();
  EXPECT_TRUE(Check({"project:*:log-bytes=2000"}));
}

}  // namespace
}  // namespace trainyard::control
