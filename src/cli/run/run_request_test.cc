#include "cli/run/run_request.h"

#include <gtest/gtest.h>

namespace trainyard::cli {
namespace {

TEST(RunJob, FindsItsJobDirInAVariable) {
  EXPECT_EQ(
      PrintCompact(RunJob({.job_id = "train_1",
                           .region = "us-central1",
                           .package_uri = "gs://p-runs/a.whl",
                           .folder = "gs://p-runs/train_1",
                           .args = {"--epochs", "3"},
                           .variables = {{"LEVEL", "2"}, {"TOKEN", "hunter2", true}}})),
      R"({"jobId":"train_1","trainingInput":{"args":["--epochs","3"],"env":[)"
      R"({"name":"LEVEL","value":"2"},{"name":"TOKEN","secret":true,"value":"hunter2"}],)"
      R"("jobDir":"gs://p-runs/train_1","jobDirAsVariable":true,"packageUris":["gs://p-runs/a.whl"],"pythonModule":"trainyard_program",)"
      R"("region":"us-central1"}})");
}

TEST(RunJob, NamesADestinationOfNoticesByALabel) {
  EXPECT_EQ(PrintCompact(
                RunJob({.job_id = "j", .region = "r", .image = "i", .folder = "gs://b/d", .notify = "ops"})),
            R"({"jobId":"j","labels":{"trainyard-notify":"ops"},"trainingInput":{"jobDir":"gs://b/d",)"
            R"("jobDirAsVariable":true,"masterConfig":{"imageUri":"i"},"region":"r"}})");
}

TEST(RunJob, OfAnImageOnGpusHasWorkersAlike) {
  EXPECT_EQ(PrintCompact(RunJob({.job_id = "j",
                                 .region = "r",
                                 .image = "python:3.11",
                                 .folder = "gs://b/d",
                                 .passes_job_dir = true,
                                 .machine_type = "n1-standard-8",
                                 .gpus = 2,
                                 .workers = 1,
                                 .args = {"python"},
                                 .variables = {}})),
            R"({"jobId":"j","trainingInput":{"args":["python"],"jobDir":"gs://b/d",)"
            R"("masterConfig":{"acceleratorConfig":{"count":"2","type":"NVIDIA_TESLA_V100"},)"
            R"("imageUri":"python:3.11"},"masterType":"n1-standard-8","region":"r","scaleTier":"CUSTOM",)"
            R"("workerConfig":{"acceleratorConfig":{"count":"2","type":"NVIDIA_TESLA_V100"}},)"
            R"("workerCount":"1","workerType":"n1-standard-8"}})");
}

TEST(RunJob, HasTheMachineTheTimeLimitAndTheShellThatWereChosen) {
  EXPECT_EQ(
      PrintCompact(RunJob({.job_id = "j",
                           .region = "r",
                           .image = "i",
                           .folder = "gs://b/d",
                           .passes_job_dir = true,
                           .machine_type = "n1-highmem-4",
                           .max_time = "3600s",
                           .web_access = true,
                           .args = {},
                           .variables = {}})),
      R"({"jobId":"j","trainingInput":{"enableWebAccess":true,"jobDir":"gs://b/d","masterConfig":{"imageUri":"i"},)"
      R"("masterType":"n1-highmem-4","region":"r","scaleTier":"CUSTOM",)"
      R"("scheduling":{"maxRunningTime":"3600s"}}})");
}

TEST(RunJobId, IsTheProgramAndTheTime) {
  std::tm time{};
  time.tm_year = 126;
  time.tm_mon = 10;
  time.tm_mday = 23;
  time.tm_hour = 10;
  time.tm_min = 15;
  time.tm_sec = 2;
  EXPECT_EQ(RunJobId("train", time), "train_20261123_101502");
  EXPECT_EQ(RunJobId("my-model.v2", time), "my_model_v2_20261123_101502");
  EXPECT_EQ(RunJobId("3d", time), "job_3d_20261123_101502");
  EXPECT_EQ(RunJobId("", time), "job_20261123_101502");
}

TEST(RunsBucket, IsOfTheProject) {
  EXPECT_EQ(RunsBucket("census"), "census-runs");
  EXPECT_EQ(RunsBucket("example.com:census"), "trainyard-runs");
}

TEST(ParseVariable, SplitsAtTheFirstSign) {
  EXPECT_EQ(ParseVariable("A=b=c")->value, "b=c");
  EXPECT_EQ(ParseVariable("A=")->value, "");
  EXPECT_EQ(ParseVariable("A").error().message, "argument --env: `A` is not NAME=VALUE");
  EXPECT_EQ(ParseVariable("=a").error().message, "argument --env: `=a` is not NAME=VALUE");
}

}  // namespace
}  // namespace trainyard::cli
