#include "cli/results/results_commands.h"

#include <gtest/gtest.h>

namespace trainyard::cli {
namespace {

Result<std::string> FolderOf(const char* job) { return JobFolder(*wire::ParseJsonTree(job)); }

TEST(JobFolder, IsTheJobDir) {
  EXPECT_EQ(FolderOf(R"({"trainingInput": {"jobDir": "gs://b/d/"}})"), "gs://b/d");
  EXPECT_EQ(FolderOf(R"({"jobId": "j", "trainingInput": {}})").error().message,
            "The job [j] has no output folder: it was submitted without --job-dir.");
}

TEST(TrialFolder, IsBelowTheJobDir) {
  const auto of = [](const char* job, const char* trial) {
    return TrialFolder(*wire::ParseJsonTree(job), trial);
  };
  const char* tunes = R"({"jobId": "j", "trainingInput": {"jobDir": "gs://b/d/", "hyperparameters": {}}})";
  EXPECT_EQ(of(tunes, "3"), "gs://b/d/3");
  EXPECT_EQ(of(tunes, "").error().message, "No trial of the job [j] has a metric yet.");
  EXPECT_EQ(of(R"({"jobId": "j", "trainingInput": {"jobDir": "gs://b/d"}})", "3").error().message,
            "The job [j] has no trials.");
  EXPECT_EQ(of(R"({"jobId": "j", "trainingInput": {"hyperparameters": {}}})", "3").error().message,
            "The trials of the job [j] have no folders of their own: it was submitted without --job-dir.");
}

}  // namespace
}  // namespace trainyard::cli
