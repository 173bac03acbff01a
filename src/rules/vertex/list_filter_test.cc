#include "rules/vertex/list_filter.h"

#include <gtest/gtest.h>

#include "base/wire/json.h"
#include "google/cloud/aiplatform/v1/aiplatform.pb.h"

namespace trainyard::vertex::list_filter_test {
namespace {

namespace aip = google::cloud::aiplatform::v1;

aip::CustomJob Listed() {
  aip::CustomJob job;
  const Status read = wire::ParseJson(R"({
    "name": "projects/p/locations/us-central1/customJobs/7", "displayName": "cj-run", "state": "JOB_STATE_RUNNING",
    "createTime": "2026-11-28T06:18:55Z", "labels": {"team": "vision", "stage": "dev"}})",
                                      job);
  EXPECT_TRUE(read.has_value());
  return job;
}

struct Row {
  const char* filter;
  bool matches;
};

class Filtered : public ::testing::TestWithParam<Row> {};

TEST_P(Filtered, List) {
  const auto filter = ResourceFilter::Parse(GetParam().filter, *aip::CustomJob::descriptor());
  ASSERT_TRUE(filter.has_value()) << filter.error().message;
  EXPECT_EQ(filter->Matches(Listed()), GetParam().matches);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Filtered,
    ::testing::Values(Row{"", true}, Row{R"(display_name="cj-run")", true},
                      Row{R"(displayName="cj-run")", true}, Row{R"(display_name="cj")", false},
                      Row{R"(display_name!="cj")", true}, Row{R"(state="JOB_STATE_RUNNING")", true},
                      Row{"state=JOB_STATE_RUNNING", true}, Row{R"(state!="JOB_STATE_RUNNING")", false},
                      Row{"labels.team=vision", true}, Row{"labels.team:*", true},
                      Row{"labels.other:*", false}, Row{R"(create_time>"2026-11-28T00:00:00Z")", true},
                      Row{R"(createTime<"2026-11-28T00:00:00Z")", false},
                      Row{R"(display_name="x" OR labels.stage="dev")", true},
                      Row{R"(state="JOB_STATE_RUNNING" AND labels.stage="prod")", false},
                      Row{R"(NOT display_name="x" AND (labels.stage="dev" OR labels.stage="prod"))", true}));

TEST(ListFilterErrors, NameTheFilter) {
  for (const char* text : {"(", "nothing=1", R"(state="NO_STATE")", R"(create_time>"yesterday")"}) {
    const auto filter = ResourceFilter::Parse(text, *aip::CustomJob::descriptor());
    ASSERT_FALSE(filter.has_value()) << text;
    EXPECT_EQ(filter.error().code, Code::kInvalidArgument);
    EXPECT_EQ(filter.error().field, "filter");
  }
}

TEST(ListFilterTypes, AreAnyMessages) {
  aip::TrainingPipeline pipeline;
  pipeline.set_state(aip::PIPELINE_STATE_FAILED);
  const auto filter =
      ResourceFilter::Parse(R"(state="PIPELINE_STATE_FAILED")", *aip::TrainingPipeline::descriptor());
  ASSERT_TRUE(filter.has_value());
  EXPECT_TRUE(filter->Matches(pipeline));
}

}  // namespace
}  // namespace trainyard::vertex::list_filter_test
