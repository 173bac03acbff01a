#include "cli/jobs/trial_table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/wire/json_tree.h"

namespace trainyard::cli::trial_table_test {
namespace {

Json Status() {
  const Result<Json> status = wire::ParseJsonTree(R"({"trials": [
    {"output": {"trialId": "1", "state": "SUCCEEDED", "isTrialStoppedEarly": true, "startTime": "2026-01-01T00:00:00Z",
                "hyperparameters": {"units": "32", "lr.min": "0.1"},
                "finalMetric": {"trainingStep": "30", "objectiveValue": 0.75}},
     "report": {"measurements": [{"step": "10"}, {"step": "20", "value": 0.5}, {"step": "30", "value": 0.75}]},
     "reason": "The trial was below the median,\nand so on."},
    {"output": {"trialId": "2", "state": "FAILED", "hyperparameters": {"units": "64", "lr.min": "0.2"}},
     "reason": "It said \"no\"."},
    {"output": {"trialId": "3", "state": "SUCCEEDED", "hyperparameters": {"units": "8", "lr.min": "0.3"},
                "finalMetric": {}}}]})");
  EXPECT_TRUE(status);
  return status.value_or(JsonObject());
}

Json JobWithBest(const std::string& trial) {
  const Result<Json> job =
      wire::ParseJsonTree(R"({"trainingOutput": {"trials": [{"trialId": ")" + trial +
                          R"(", "finalMetric": {"objectiveValue": 1}}, {"trialId": "9"}]}})");
  EXPECT_TRUE(job);
  return job.value_or(JsonObject());
}

TEST(TrialTable, ShowsTheBestTrialFirst) {
  EXPECT_EQ(
      PrintTable(TrialRows(Status(), BestTrial(JobWithBest("3")))),
      "TRIAL     STATE              METRIC  STEP  lr.min  units  COURSE  REASON\n"
      "3 (best)  SUCCEEDED          0       0     0.3     8\n"
      "1         SUCCEEDED (early)  0.75    30    0.1     32     ▁▆█     The trial was below the median,\n"
      "2         FAILED                           0.2     64             It said \"no\".\n");
  EXPECT_TRUE(HasTrials(Status()));
  EXPECT_FALSE(HasTrials(JsonObject()));
}

TEST(TrialTable, HasTheParametersOfAllTrials) {
  const Result<Json> status = wire::ParseJsonTree(R"({"trials": [
    {"output": {"trialId": "1", "state": "QUEUED", "hyperparameters": {"opt": "adam"}}},
    {"output": {"trialId": "2", "state": "QUEUED", "hyperparameters": {"opt": "sgd", "momentum": "0.5"}}}]})");
  ASSERT_TRUE(status);
  EXPECT_EQ(PrintTable(TrialRows(*status, "")),
            "TRIAL  STATE   METRIC  STEP  momentum  opt   COURSE  REASON\n"
            "1      QUEUED                          adam\n"
            "2      QUEUED                0.5       sgd\n");
}

TEST(TrialTable, HasAColumnForEachFurtherMetric) {
  const Result<Json> status = wire::ParseJsonTree(R"({"trials": [
    {"output": {"trialId": "1", "state": "SUCCEEDED", "hyperparameters": {"x": "1"}, "finalMetric": {
      "objectiveValue": 0.5, "trainingStep": "3", "furtherValues": {"loss": 2.5, "auc": 0}}}},
    {"output": {"trialId": "2", "state": "SUCCEEDED", "hyperparameters": {"x": "2"}}}]})");
  ASSERT_TRUE(status);
  EXPECT_EQ(PrintTable(TrialRows(*status, "1")),
            "TRIAL     STATE      METRIC  STEP  auc  loss  x  COURSE  REASON\n"
            "1 (best)  SUCCEEDED  0.5     3     0    2.5   1\n"
            "2         SUCCEEDED                           2\n");
  EXPECT_EQ(
      PrintTrialCsv(*status),
      "trial_id,state,x,objective_value,auc,loss,training_step,stopped_early,start_time,end_time,reason\n"
      "1,SUCCEEDED,1,0.5,0,2.5,3,false,,,\n"
      "2,SUCCEEDED,2,,,,,false,,,\n");
}

TEST(TrialTable, MarksNothingBeforeThereIsAMetric) {
  EXPECT_EQ(BestTrial(JsonObject()), "");
  const Rows rows = TrialRows(Status(), "");
  EXPECT_EQ(rows[1].front(), "1");
  EXPECT_EQ(rows[3].front(), "3");
}

TEST(TrialTable, CsvQuotesWhatNeedsIt) {
  EXPECT_EQ(
      PrintTrialCsv(Status()),
      "trial_id,state,lr.min,units,objective_value,training_step,stopped_early,start_time,end_time,reason\n"
      "1,SUCCEEDED,0.1,32,0.75,30,true,2026-01-01T00:00:00Z,,\"The trial was below the median,\nand so "
      "on.\"\n"
      "2,FAILED,0.2,64,,,false,,,\"It said \"\"no\"\".\"\n"
      "3,SUCCEEDED,0.3,8,0,0,false,,,\n");
}

TEST(TrialTable, OutputsAreTheApis) {
  const std::vector<Json> outputs = TrialOutputs(Status());
  ASSERT_EQ(outputs.size(), 3U);
  EXPECT_EQ(TextAt(outputs[1], "trialId"), "2");
}

struct Row {
  const char* name;
  std::vector<double> values;
  const char* line;
};
class SparklineOf : public testing::TestWithParam<Row> {};
TEST_P(SparklineOf, Values) { EXPECT_EQ(Sparkline(GetParam().values, 4), GetParam().line); }
INSTANTIATE_TEST_SUITE_P(Rows, SparklineOf,
                         testing::Values(Row{"none", {}, ""}, Row{"one", {1}, ""}, Row{"two", {1, 2}, "▁█"},
                                         Row{"flat", {3, 3, 3}, "▅▅▅"},
                                         Row{"nan", {1, std::nan(""), 2}, "▁?█"},
                                         Row{"nothing_finite", {std::nan(""), HUGE_VAL}, "??"},
                                         Row{"many", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, "▁▃▆█"}),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::cli::trial_table_test
