#include "rules/vertex/log_names.h"

#include <gtest/gtest.h>

namespace trainyard::vertex {
namespace {

constexpr const char* kNumber = "7110512376444053982";

TEST(VertexLogNames, AFilterThatNamesACustomJobsNumberIsAboutItsJob) {
  const std::string number = kNumber;
  EXPECT_EQ(FilterInMlNames("resource.type=\"ml_job\" AND resource.labels.job_id=\"" + number +
                            "\" AND resource.labels.task_name=\"workerpool1-0\""),
            "resource.type=\"ml_job\" AND resource.labels.job_id=\"vertex_" + number +
                "\" AND resource.labels.task_name=\"worker-replica-0\"");
  EXPECT_EQ(FilterInMlNames("resource.labels.job_id = " + number),
            "resource.labels.job_id = \"vertex_" + number + "\"");
}

TEST(VertexLogNames, OtherFiltersStayAsTheyAre) {
  for (const char* filter :
       {"", "resource.labels.job_id=\"census\"", "resource.labels.job_id=\"123\"",
        "resource.labels.job_id=12345678901234567890", "resource.labels.job_id=\"12345678901234567890\"",
        "resource.labels.task_name=\"workerpool0-0\""})
    EXPECT_EQ(FilterInMlNames(filter), std::nullopt) << filter;
}

TEST(VertexLogNames, EntriesOfCustomJobsAreNamedByNumberAndPool) {
  logging::v2::LogEntry entry;
  auto& labels = *entry.mutable_resource()->mutable_labels();
  labels["job_id"] = std::string("vertex_") + kNumber;
  labels["task_name"] = "master-replica-0";
  NameForVertex(entry);
  EXPECT_EQ(labels["job_id"], kNumber);
  EXPECT_EQ(labels["task_name"], "workerpool0-0");
  labels["job_id"] = "census";
  labels["task_name"] = "master-replica-0";
  NameForVertex(entry);
  EXPECT_EQ(labels["task_name"], "master-replica-0");
}

}  // namespace
}  // namespace trainyard::vertex
