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
      "args": ["1"], "region": "r", "jobDir": "gs://p-runs/a", "jobDirAsVariable": true, "env": [
        {"name": "LEVEL", "value": "1"}, {"name": "TOKEN", "secret": true}]},
      "trainingOutput": {"consumedMLUnits": 1}})");
  EXPECT_EQ(PrintCompact(RerunJob(
                former,
                {.job_id = "b", .args = {{"2"}}, .variables = {{"LEVEL", "2"}, {"TOKEN", "hunter2", true}}})),
            R"({"jobId":"b","labels":{"k":"v"},"trainingInput":{"args":["2"],"env":[)"
            R"({"name":"LEVEL","value":"2"},{"name":"TOKEN","secret":true,"value":"hunter2"}],)"
            R"("jobDir":"gs://p-runs/b","jobDirAsVariable":true,"region":"r"}})");
}

TEST(RerunJob, KeepsAFolderThatWasNamed) {
  for (const char* input :
       {R"({"jobDir":"gs://b/a"})", R"({"jobDir":"gs://b/d/","jobDirAsVariable":true})"}) {
    const Json former = Parse((R"({"jobId": "a", "trainingInput": )" + std::string(input) + "}").c_str());
    EXPECT_EQ(PrintCompact(RerunJob(former, {.job_id = "b", .args = {}, .variables = {}})),
              R"({"jobId":"b","trainingInput":)" + std::string(input) + "}");
  }
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
