#include "cli/jobs/log_stream.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace trainyard::cli::log_stream_test {
namespace {

TEST(LogPosition, DropsWhatIsNotBehindIt) {
  LogPosition position;
  EXPECT_EQ(position.LowerBound(), "timestamp>=\"1970-01-01T01:00:00.000000000Z\"");
  EXPECT_TRUE(position.Advance("2026-11-20T00:00:01.000000000Z", "5"));
  EXPECT_EQ(position.LowerBound(), "timestamp>=\"2026-11-20T00:00:01.000000000Z\"");
  EXPECT_FALSE(position.Advance("2026-11-20T00:00:01.000000000Z", "5"));
  EXPECT_FALSE(position.Advance("2026-11-20T00:00:01.000000000Z", "4"));
  EXPECT_FALSE(position.Advance("2026-11-20T00:00:00.999999999Z", "9"));
  EXPECT_TRUE(position.Advance("2026-11-20T00:00:01.000000000Z", "6"));
  EXPECT_EQ(position.LowerBound(),
            "((timestamp=\"2026-11-20T00:00:01.000000000Z\" AND insertId>\"6\") OR "
            "timestamp>\"2026-11-20T00:00:01.000000000Z\")");
  EXPECT_TRUE(position.Advance("2026-11-20T00:00:02.000000000Z", "1"));
  EXPECT_EQ(position.LowerBound(), "timestamp>=\"2026-11-20T00:00:02.000000000Z\"");
}

TEST(LogRequest, IsGclouds) {
  SysTime until{std::chrono::seconds(1'763'661'757) + std::chrono::microseconds(96'867)};
  EXPECT_EQ(
      PrintCompact(LogRequest({"p", "j", "service"}, {}, until, 998, "t")),
      R"({"filter":"(resource.type=\"ml_job\" OR resource.type=\"cloudml_job\") AND resource.labels.job_id=\"j\" AND )"
      R"((resource.labels.task_name=\"service\" OR labels.task_name=\"service\") AND )"
      R"(timestamp>=\"1970-01-01T01:00:00.000000000Z\" AND timestamp<\"2025-11-20T18:02:37.096867Z\"",)"
      R"("orderBy":"timestamp asc","pageSize":998,"pageToken":"t","resourceNames":["projects/p"]})");
}

struct Row {
  const char* name;
  const char* entry;
  bool multiline;
  std::vector<std::string> lines;
};

class Lines : public testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
  }
};

TEST_P(Lines, OfAnEntry) {
  EXPECT_EQ(LogLines(*wire::ParseJsonTree(GetParam().entry), GetParam().multiline), GetParam().lines);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Lines,
    testing::Values(
        Row{"text",
            R"({"timestamp":"2026-11-20T00:00:01Z","severity":"INFO","textPayload":"a","resource":{"labels":{"task_name":"service"}}})",
            false,
            {"INFO\t2026-11-20 00:00:01 +0000\tservice\t\ta"}},
        Row{"two_lines",
            R"({"timestamp":"2026-11-20T00:00:01Z","textPayload":"a\r\nb\n"})",
            false,
            {"DEFAULT\t2026-11-20 00:00:01 +0000\tunknown_task\t\ta",
             "DEFAULT\t2026-11-20 00:00:01 +0000\tunknown_task\t\tb"}},
        Row{"kept_whole",
            R"({"timestamp":"2026-11-20T00:00:01Z","textPayload":"a\nb"})",
            true,
            {"DEFAULT\t2026-11-20 00:00:01 +0000\tunknown_task\t\ta\nb"}},
        Row{"nothing_to_say",
            R"({"timestamp":"2026-11-20T00:00:01Z"})",
            false,
            {"DEFAULT\t2026-11-20 00:00:01 +0000\tunknown_task\t\t"}},
        Row{"json",
            R"({"timestamp":"x","jsonPayload":{"message":"m"},"labels":{"ml.googleapis.com/trial_id":"3","task_name":"w"}})",
            false,
            {"DEFAULT\tx\tw\t3\tm"}},
        Row{"message_is_an_object",
            R"({"timestamp":"x","jsonPayload":{"message":{"b":1,"a":2}}})",
            false,
            {"DEFAULT\tx\tunknown_task\t\t{\"a\":2,\"b\":1}"}}),
    [](const auto& row) { return row.param.name; });

TEST(SplitLines, IsPythons) {
  using Views = std::vector<std::string_view>;
  EXPECT_EQ(SplitLines(""), Views{});
  EXPECT_EQ(SplitLines("\n"), Views{""});
  EXPECT_EQ(SplitLines("a\rb\r\nc\vd\fe\x1c"), (Views{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(SplitLines("a\xc2\x85"
                       "b\xe2\x80\xa8"
                       "c"),
            (Views{"a", "b", "c"}));
}

}  // namespace
}  // namespace trainyard::cli::log_stream_test
