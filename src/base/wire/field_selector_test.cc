#include "base/wire/field_selector.h"

#include <gtest/gtest.h>

#include "base/wire/json_tree.h"
#include "trainyard/logging/v2/logging.pb.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::wire {
namespace {

constexpr std::string_view kPage = R"({
  "jobs": [
    {"jobId": "a", "labels": {"team": "x", "b": "y"}, "trainingInput": {"region": "r", "args": ["1", "2"],
     "masterConfig": {"imageUri": "i", "acceleratorConfig": {"count": "2"}}}},
    {"jobId": "b \"{,", "endTime": "2026-11-20T00:00:00Z"}
  ],
  "nextPageToken": "t"
})";

struct Row {
  const char* name;
  const char* fields;
  const char* expected;  ///< compact
};

class Selected : public testing::TestWithParam<Row> {};

TEST_P(Selected, IsWhatRemains) {
  Result<FieldSelector> selector = FieldSelector::Parse(GetParam().fields);
  ASSERT_TRUE(selector) << selector.error().message;
  const Status resolved = selector->Resolve(*ml::v1::ListJobsResponse::descriptor());
  ASSERT_TRUE(resolved) << resolved.error().message;
  EXPECT_EQ(CompactJson(selector->Apply(kPage)), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Selected,
    testing::Values(
        Row{"one", "nextPageToken", R"({"nextPageToken":"t"})"},
        Row{"all", "*",
            R"({"jobs":[{"jobId":"a","labels":{"team":"x","b":"y"},"trainingInput":{"region":"r","args":["1","2"],"masterConfig":{"imageUri":"i","acceleratorConfig":{"count":"2"}}}},{"jobId":"b \"{,","endTime":"2026-11-20T00:00:00Z"}],"nextPageToken":"t"})"},
        Row{"slash", "jobs/jobId", R"({"jobs":[{"jobId":"a"},{"jobId":"b \"{,"}]})"},
        Row{"dot", "jobs.jobId", R"({"jobs":[{"jobId":"a"},{"jobId":"b \"{,"}]})"},
        Row{"group", "jobs(jobId,endTime),nextPageToken",
            R"({"jobs":[{"jobId":"a"},{"jobId":"b \"{,","endTime":"2026-11-20T00:00:00Z"}],"nextPageToken":"t"})"},
        Row{"nested", "jobs(trainingInput(masterConfig/acceleratorConfig/count))",
            R"({"jobs":[{"trainingInput":{"masterConfig":{"acceleratorConfig":{"count":"2"}}}},{}]})"},
        Row{"map_key", "jobs/labels/team", R"({"jobs":[{"labels":{"team":"x"}},{}]})"},
        Row{"list_of_text", "jobs/trainingInput/args",
            R"({"jobs":[{"trainingInput":{"args":["1","2"]}},{}]})"},
        Row{"any_child", "jobs/*/region", R"({"jobs":[{"labels":{},"trainingInput":{"region":"r"}},{}]})"},
        Row{"twice", "jobs/jobId,jobs/endTime",
            R"({"jobs":[{"jobId":"a"},{"jobId":"b \"{,","endTime":"2026-11-20T00:00:00Z"}]})"},
        Row{"whole_wins", "jobs/jobId,jobs",
            R"({"jobs":[{"jobId":"a","labels":{"team":"x","b":"y"},"trainingInput":{"region":"r","args":["1","2"],"masterConfig":{"imageUri":"i","acceleratorConfig":{"count":"2"}}}},{"jobId":"b \"{,","endTime":"2026-11-20T00:00:00Z"}]})"},
        Row{"snake_case", "next_page_token,jobs/job_id",
            R"({"jobs":[{"jobId":"a"},{"jobId":"b \"{,"}],"nextPageToken":"t"})"},
        Row{"both_cases", "jobs/job_id,jobs/jobId", R"({"jobs":[{"jobId":"a"},{"jobId":"b \"{,"}]})"},
        Row{"blanks", " jobs ( jobId ) , nextPageToken ",
            R"({"jobs":[{"jobId":"a"},{"jobId":"b \"{,"}],"nextPageToken":"t"})"},
        Row{"not_there", "jobs/errorMessage", R"({"jobs":[{},{}]})"}),
    [](const auto& row) { return row.param.name; });

struct RefusedRow {
  const char* name;
  const char* fields;
  const char* message;
};

class Refused : public testing::TestWithParam<RefusedRow> {};

TEST_P(Refused, WithItsReason) {
  Result<FieldSelector> selector = FieldSelector::Parse(GetParam().fields);
  Status status;
  if (!selector) {
    status = std::unexpected(selector.error());
  } else {
    status = selector->Resolve(*ml::v1::ListJobsResponse::descriptor());
  }
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error(), InvalidArgument("fields", GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Refused,
    testing::Values(
        RefusedRow{"unknown", "bogus",
                   "Error expanding 'fields' parameter. Cannot find matching fields for path 'bogus'."},
        RefusedRow{"unknown_below", "jobs(jobId,bogus)",
                   "Error expanding 'fields' parameter. Cannot find matching fields for path 'jobs.bogus'."},
        RefusedRow{
            "below_text", "jobs/jobId/x",
            "Error expanding 'fields' parameter. Cannot find matching fields for path 'jobs.jobId.x'."},
        RefusedRow{"below_time", "jobs/endTime/seconds",
                   "Error expanding 'fields' parameter. Cannot find matching fields for path "
                   "'jobs.endTime.seconds'."},
        RefusedRow{"open", "jobs(jobId", "Invalid field selection: syntax error at its end"},
        RefusedRow{"closed", "jobs)", "Invalid field selection: syntax error at character 5"},
        RefusedRow{"comma", "jobs,", "Invalid field selection: syntax error at its end"},
        RefusedRow{"double_slash", "jobs//jobId", "Invalid field selection: syntax error at character 6"},
        RefusedRow{"nothing", "", "Invalid field selection: syntax error at its end"},
        RefusedRow{"deep", "a(a(a(a(a(a(a(a(a(a(a(a(a(a(a(a(a(a(a(a(a(a(a(a(a(a(a(a(a(a(a(a",
                   "nested too deep"}),
    [](const auto& row) { return row.param.name; });

TEST(FieldSelectorTest, FreeFormFieldsMayHaveAnyKeys) {
  Result<FieldSelector> selector = FieldSelector::Parse("entries(jsonPayload/message,insertId)");
  ASSERT_TRUE(selector);
  ASSERT_TRUE(selector->Resolve(*logging::v2::ListLogEntriesResponse::descriptor()));
  EXPECT_EQ(
      CompactJson(selector->Apply(
          R"({"entries":[{"insertId":"1","severity":"INFO","jsonPayload":{"message":"m","x":1.50}}]})")),
      R"({"entries":[{"insertId":"1","jsonPayload":{"message":"m"}}]})");
}

TEST(FieldSelectorTest, TextThatIsNotJsonStaysAsItIs) {
  EXPECT_EQ(FieldSelector::Parse("a")->Apply("no json"), "no json");
}

TEST(CompactJsonTest, KeepsStrings) {
  EXPECT_EQ(CompactJson("{\n  \"a b\": \"c \\\" d\\\\\",\n  \"e\": [1, 2.50, null]\n}\n"),
            R"({"a b":"c \" d\\","e":[1,2.50,null]})");
}

}  // namespace
}  // namespace trainyard::wire
