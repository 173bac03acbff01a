#include "cli/run/run_request.h"

#include <gtest/gtest.h>

namespace trainyard::cli {
namespace {

Json Parse(const char* text) { return *wire::ParseJsonTree(text); }

std::tm Morning() {
  std::tm time{};
  time.tm_year = 126;
  time.tm_mday = 1;
  return time;
}

TEST(RerunJob, HasTheFormersInputAndAFolderOfItsOwn) {
  const Json former = Parse(R"({"jobId": "a", "labels": {"k": "v"}, "state": "FAILED", "trainingInput": {
      "args": ["1"], "region": "r", "env": [
        {"name": "TRAINYARD_JOB_DIR", "value": "gs://p-runs/a"}, {"name": "AIP_MODEL_DIR", "value": "gs://p-runs/a/model/"},
        {"name": "LEVEL", "value": "1"}, {"name": "TOKEN", "secret": true}]},
      "trainingOutput": {"consumedMLUnits": 1}})");
  EXPECT_EQ(PrintCompact(RerunJob(
                former,
                {.job_id = "b", .args = {{"2"}}, .variables = {{"LEVEL", "2"}, {"TOKEN", "hunter2", true}}})),
            R"({"jobId":"b","labels":{"k":"v"},"trainingInput":{"args":["2"],"env":[)"
            R"({"name":"TRAINYARD_JOB_DIR","value":"gs://p-runs/b"},)"
            R"({"name":"AIP_MODEL_DIR","value":"gs://p-runs/b/model/"},{"name":"LEVEL","value":"2"},)"
            R"({"name":"TOKEN","secret":true,"value":"hunter2"}],"region":"r"}})");
}

TEST(RerunJob, KeepsAFolderThatWasNamed) {
  const Json former = Parse(R"({"jobId": "a", "trainingInput": {"jobDir": "gs://b/d/",
      "env": [{"name": "TRAINYARD_JOB_DIR", "value": "gs://b/d"}]}})");
  EXPECT_EQ(PrintCompact(RerunJob(former, {.job_id = "b", .args = {}, .variables = {}})),
            R"({"jobId":"b","trainingInput":{"env":[{"name":"TRAINYARD_JOB_DIR","value":"gs://b/d"}],)"
            R"("jobDir":"gs://b/d/"}})");
}

TEST(MissingSecrets, AreThoseThatNoChangeGives) {
  const Json former =
      Parse(R"({"trainingInput": {"env": [{"name": "A", "secret": true}, {"name": "B", "value": "1"},
                                                          {"name": "C", "secret": true}]}})");
  EXPECT_EQ(MissingSecrets(former, {{"A", "value", true}}), std::vector<std::string>{"C"});
  EXPECT_EQ(MissingSecrets(Parse("{}"), {}), std::vector<std::string>());
}

TEST(RerunJobId, HasANewTime) {
  EXPECT_EQ(RerunJobId("train_20261123_101502", Morning()), "train_20260101_000000");
  EXPECT_EQ(RerunJobId("train_20261123_101502_2", Morning()), "train_20260101_000000");
  EXPECT_EQ(RerunJobId("census_1", Morning()), "census_1_20260101_000000");
  EXPECT_EQ(RerunJobId("census", Morning()), "census_20260101_000000");
}

}  // namespace
}  // namespace trainyard::cli
