#include "cli/jobs/job_summary.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::cli {
namespace {

std::string Series(const std::string& metric, const std::string& task, const std::string& points) {
  return R"({"metric":{"type":"ml.googleapis.com/training/)" + metric +
         R"("},"resource":{"labels":{"task_name":")" + task + R"("}},"points":[)" + points + "]}";
}
std::string Point(const std::string& value) { return R"({"value":{)" + value + "}}"; }

TEST(UsageSummary, HasARowForEachReplicaAndNoColumnWithoutFigures) {
  const std::string text =
      R"({"timeSeries":[)" +
      Series("cpu/utilization", "worker-replica-0",
             Point(R"("doubleValue":0.2)") + "," + Point(R"("doubleValue":0.6)")) +
      "," +
      Series("memory/utilization", "worker-replica-0",
             Point(R"("doubleValue":0.25)") + "," + Point(R"("doubleValue":0.5)")) +
      "," + Series("cpu/utilization", "master-replica-0", Point(R"("doubleValue":1.0)")) + "," +
      Series("network/sent_bytes_count", "master-replica-0",
             Point(R"("int64Value":"1024")") + "," + Point(R"("int64Value":"512")")) +
      "]}";
  const Result<Json> answer = wire::ParseJsonTree(text);
  ASSERT_TRUE(answer);
  EXPECT_EQ(PrintUsageSummary(*answer),
            R"(    ┌──────────────────────────────────────────────────────────────────────────────┐
    │                                Resource Usage                                │
    ├──────────────────┬──────────┬──────────┬─────────────┬─────────────┬─────────┤
    │     REPLICA      │ CPU_MEAN │ CPU_LAST │ MEMORY_PEAK │ MEMORY_LAST │   SENT  │
    ├──────────────────┼──────────┼──────────┼─────────────┼─────────────┼─────────┤
    │ master-replica-0 │ 100%     │ 100%     │             │             │ 1.5 KiB │
    │ worker-replica-0 │ 40%      │ 20%      │ 50%         │ 25%         │         │
    └──────────────────┴──────────┴──────────┴─────────────┴─────────────┴─────────┘
)");
}

TEST(UsageSummary, IsEmptyWithoutFigures) {
  EXPECT_EQ(PrintUsageSummary(JsonObject()), "");
  const Result<Json> odd =
      wire::ParseJsonTree(R"({"timeSeries":[{"metric":{"type":"other"},"points":[]},7]})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(PrintUsageSummary(*odd), "");
}

}  // namespace
}  // namespace trainyard::cli
