#include "cli/run/run_request.h"

#include <gtest/gtest.h>

namespace trainyard::cli {
namespace {

TEST(RunJob, HasTheFoldersVariablesAndNoJobDir) {
  EXPECT_EQ(PrintCompact(RunJob({.job_id = "train_1",
                                 .region = "us-central1",
                                 .package_uri = "gs://p-runs/a.whl",
                                 .folder = "gs://p-runs/train_1",
                                 .args = {"--epochs", "3"},
                                 .variables = {{"LEVEL", "2"}, {"TOKEN", "hunter2", true}}})),
            R"({"jobId":"train_1","trainingInput":{"args":["--epochs","3"],"env":[)"
            R"({"name":"TRAINYARD_JOB_DIR","value":"gs://p-runs/train_1"},)"
            R"({"name":"AIP_MODEL_DIR","value":"gs://p-runs/train_1/model/"},)"
            R"({"name":"AIP_CHECKPOINT_DIR","value":"gs://p-runs/train_1/checkpoints/"},)"
            R"({"name":"AIP_TENSORBOARD_LOG_DIR","value":"gs://p-runs/train_1/logs/"},)"
            R"({"name":"LEVEL","value":"2"},{"name":"TOKEN","secret":true,"value":"hunter2"}],)"
            R"("packageUris":["gs://p-runs/a.whl"],"pythonModule":"trainyard_program",)"
            R"("region":"us-central1"}})");
}

TEST(RunJob, OfAnImageOnGpusHasWorkersAlike) {
  EXPECT_EQ(PrintCompact(RunJob({.job_id = "j",
                                 .region = "r",
                                 .image = "python:3.11",
                                 .job_dir = "gs://b/d",
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

TEST(RunJob, TheUsersOwnVariableWins) {
  const Json job = RunJob({.job_id = "j", .folder = "gs://b/j", .variables = {{"AIP_MODEL_DIR", "/tmp"}}});
  const std::string text = PrintCompact(job);
  EXPECT_EQ(text.find("gs://b/j/model/"), std::string::npos) << text;
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
