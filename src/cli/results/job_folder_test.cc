#include "cli/results/results_commands.h"

#include <gtest/gtest.h>

namespace trainyard::cli {
namespace {

Result<std::string> FolderOf(const char* job) { return JobFolder(*wire::ParseJsonTree(job)); }

TEST(JobFolder, IsTheJobDirOrWhatTheRunSays) {
  EXPECT_EQ(FolderOf(R"({"trainingInput": {"jobDir": "gs://b/d/"}})"), "gs://b/d");
  EXPECT_EQ(FolderOf(R"({"trainingInput": {"env": [{"name": "A", "value": "gs://x"},
                         {"name": "TRAINYARD_JOB_DIR", "value": "gs://b/j"}]}})"),
            "gs://b/j");
  EXPECT_EQ(FolderOf(R"({"jobId": "j", "trainingInput": {}})").error().message,
            "The job [j] has no output folder: it was submitted without --job-dir.");
}

}  // namespace
}  // namespace trainyard::cli
