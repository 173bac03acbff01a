#include "rules/vertex/log_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/wire/log_filter.h"

namespace trainyard::vertex::log_names_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kNumber = 7'110'512'376'444'053'982;
const std::string kText = std::to_string(kNumber);
const NumberedJob kJob{.number = kNumber, .job_id = "vertex_" + kText};
/// It was created by ml v1.
const NumberedJob kCensus{.number = 9'000'000'000'000'000'012, .job_id = "census"};

TEST(VertexLogNames, NumbersAreThoseThatAJobsIdIsComparedWith) {
  const std::string job = "resource.labels.job_id";
  EXPECT_THAT(NumbersIn("resource.type=\"ml_job\" AND " + job + "=\"" + kText + "\" OR " + job +
                        " != 9000000000000000012"),
              ElementsAre(kNumber, kCensus.number));
  EXPECT_THAT(NumbersIn(job + "=(\"" + kText + "\" OR (" + kText + "))"), ElementsAre(kNumber));
  for (const std::string& filter :
       {std::string(), job + "=\"census\"", job + "=\"123\"", job + "=12345678901234567890",
        job + "=\"12345678901234567890\"", job + "=\"9999999999999999999\"", job + "=\"-711051237644405398\"",
        job + ":\"" + kText + "\"", "labels.job_id=\"" + kText + "\"", "\"" + job + "=" + kText + "\"",
        "textPayload=\"" + job + "=\\\"" + kText + "\\\"\"", "-- " + job + "=" + kText, job + "=",
        "\"" + job})
    EXPECT_THAT(NumbersIn(filter), IsEmpty()) << filter;
  std::string many;
  for (int last = 0; last < 20; ++last) many += job + "=12345678901234567" + std::to_string(10 + last) + " ";
  EXPECT_EQ(NumbersIn(many).size(), 20U);
}

struct Row {
  const char* name;
  std::string filter;
  std::string named;
};
class VertexLogFilter : public ::testing::TestWithParam<Row> {};
TEST_P(VertexLogFilter, HasTheNamesOfMl) {
  const std::vector<NumberedJob> jobs{kJob, kCensus};
  EXPECT_EQ(FilterInMlNames(GetParam().filter, jobs), GetParam().named);
  EXPECT_TRUE(wire::ParseLogFilter(GetParam().named));
}
INSTANTIATE_TEST_SUITE_P(
    Filters, VertexLogFilter,
    ::testing::Values(
        Row{"as_gcloud_sends_it",
            R"(resource.type="ml_job" AND resource.labels.job_id="7110512376444053982" AND resource.labels.task_name="workerpool1-0")",
            R"(resource.type="ml_job" AND resource.labels.job_id="vertex_7110512376444053982" AND resource.labels.task_name="worker-replica-0")"},
        Row{"plain", "resource.labels.job_id = 7110512376444053982",
            "resource.labels.job_id = \"vertex_7110512376444053982\""},
        Row{"of_ml_v1", R"(resource.labels.job_id="9000000000000000012" severity>=ERROR)",
            R"(resource.labels.job_id="census" severity>=ERROR)"},
        Row{"group",
            R"(resource.labels.job_id=("7110512376444053982" OR "9000000000000000012" OR "other") NOT x)",
            R"(resource.labels.job_id=("vertex_7110512376444053982" OR "census" OR "other") NOT x)"},
        Row{"text_stays",
            R"("resource.labels.job_id=7110512376444053982" AND resource.labels.job_id="7110512376444053982" AND jsonPayload.message:"resource.labels.job_id=\"7110512376444053982\" resource.labels.task_name=workerpool0-0")",
            R"("resource.labels.job_id=7110512376444053982" AND resource.labels.job_id="vertex_7110512376444053982" AND jsonPayload.message:"resource.labels.job_id=\"7110512376444053982\" resource.labels.task_name=workerpool0-0")"},
        Row{"comment_stays",
            "resource.labels.job_id=9000000000000000012 -- resource.labels.job_id=9000000000000000012\n x",
            "resource.labels.job_id=\"census\" -- resource.labels.job_id=9000000000000000012\n x"}),
    [](const auto& row) { return row.param.name; });

TEST(VertexLogNames, APoolWithoutAJobIsOneOfVertexAi) {
  EXPECT_EQ(FilterInMlNames("severity=ERROR OR resource.labels.task_name=\"workerpool1-0\" AND a", {}),
            "severity=ERROR OR (resource.labels.task_name=\"worker-replica-0\" AND "
            "resource.labels.job_id=vertex_*) AND a");
  EXPECT_EQ(FilterInMlNames("resource.labels.task_name=(workerpool0-0 OR service)", {}),
            "resource.labels.task_name=(\"master-replica-0\" OR service)");
  EXPECT_EQ(FilterInMlNames("resource.labels.task_name!=workerpool0-0", {}),
            "resource.labels.task_name!=\"master-replica-0\"");
}

TEST(VertexLogNames, OtherFiltersStayAsTheyAre) {
  for (const char* filter :
       {"", "resource.labels.job_id=\"census\"", "resource.labels.task_name=\"master-replica-0\"",
        "resource.labels.job_id=\"7110512376444053982\"", "resource.labels.task_name=workerpool4-0",
        "resource.labels.job_id=\"census\" AND resource.labels.task_name=\"workerpool0-0\"",
        "\"resource.labels.task_name=workerpool0-0\"", "resource.labels.task_name=workerpool0-0 AND x="})
    EXPECT_EQ(FilterInMlNames(filter, {}), std::nullopt) << filter;
}

TEST(VertexLogNames, EntriesAreNamedByNumberAndPool) {
  const auto named = [](const char* job_id, const std::vector<NumberedJob>& jobs) {
    logging::v2::LogEntry entry;
    auto& labels = *entry.mutable_resource()->mutable_labels();
    labels["job_id"] = job_id;
    labels["task_name"] = "master-replica-0";
    NameForVertex(entry, jobs);
    return labels["job_id"] + " " + labels["task_name"];
  };
  EXPECT_EQ(named("vertex_7110512376444053982", {}), kText + " workerpool0-0");
  EXPECT_EQ(named("census", {kJob, kCensus}), "9000000000000000012 workerpool0-0");
  EXPECT_EQ(named("census", {}), "census master-replica-0");
}

}  // namespace
}  // namespace trainyard::vertex::log_names_test
