#include "base/wire/log_filter.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/wire/time.h"
#include "trainyard/logging/v2/logging.pb.h"

namespace trainyard::wire {
namespace {

using std::chrono::nanoseconds;

SysTime At(const char* text) { return *ParseTime(text); }

LogBounds BoundsOf(const std::string& text) {
  const auto filter = ParseLogFilter(text);
  EXPECT_TRUE(filter.has_value()) << filter.error().message;
  return ExtractBounds(*filter);
}

// As gcloud sends it: docs/spec, "Logs".
TEST(ExtractBounds, FirstPoll) {
  EXPECT_EQ(
      BoundsOf(
          R"((resource.type="ml_job" OR resource.type="cloudml_job") AND resource.labels.job_id="J" AND )"
          R"(timestamp>="1970-01-01T01:00:00.000000000Z" AND timestamp<"2026-11-20T18:02:37.096867Z")"),
      (LogBounds{.job_id = "J",
                 .earliest = At("1970-01-01T01:00:00Z"),
                 .latest = At("2026-11-20T18:02:37.096866999Z")}));
}

TEST(ExtractBounds, LaterPollOfOneTask) {
  EXPECT_EQ(
      BoundsOf(
          R"((resource.type="ml_job" OR resource.type="cloudml_job") AND resource.labels.job_id="J" AND )"
          R"((resource.labels.task_name="T" OR labels.task_name="T") AND )"
          R"(((timestamp="2026-01-01T00:00:00Z" AND insertId>"000005") OR timestamp>"2026-01-01T00:00:00Z") AND )"
          R"(timestamp<"2026-11-20T18:02:37Z")"),
      (LogBounds{.job_id = "J",
                 .task_name = "T",
                 .earliest = At("2026-01-01T00:00:00Z"),
                 .latest = At("2026-11-20T18:02:36.999999999Z"),
                 .insert_id_above = "000005"}));
}

TEST(ExtractBounds, Edges) {
  EXPECT_EQ(BoundsOf(""), LogBounds());
  EXPECT_EQ(BoundsOf("NOT resource.labels.job_id=J"), LogBounds());
  EXPECT_EQ(BoundsOf("resource.labels.job_id:J"), LogBounds());
  EXPECT_EQ(BoundsOf("resource.labels.job_id=J*"), LogBounds());
  EXPECT_EQ(BoundsOf("resource.labels.job_id=J OR error"), LogBounds());
  EXPECT_TRUE(BoundsOf("resource.labels.job_id=J resource.labels.job_id=K").nothing);
  EXPECT_TRUE(BoundsOf("timestamp>2026-01-02 timestamp<2026-01-01").nothing);
  EXPECT_EQ(BoundsOf("resource.labels.job_id=(J OR J)").job_id, "J");
  EXPECT_EQ(BoundsOf("timestamp<=\"9999-01-01T00:00:00Z\" timestamp>\"9999-01-01T00:00:00Z\""),
            (LogBounds{.earliest = SysTime::max(), .latest = SysTime::max()}));
  EXPECT_EQ(BoundsOf(R"(labels."ml.googleapis.com/task_name"="T")").task_name, "T");
}

TEST(ParseLogFilter, RefusesUnknownFields) {
  EXPECT_EQ(ParseLogFilter("resource.job=1").error(),
            InvalidArgument("filter", "Field not found: 'resource.job'"));
}

struct Row {
  const char* name;
  const char* filter;
  bool matches;
};
class ParseLogFilterMeans : public testing::TestWithParam<Row> {};
TEST_P(ParseLogFilterMeans, ForEntries) {
  logging::v2::LogEntry entry;
  entry.set_insert_id("A");
  entry.set_severity(logging::v2::LogEntry::WARNING);
  (*entry.mutable_resource()->mutable_labels())["job_id"] = "Census";
  (*entry.mutable_labels())["team"] = "Red";
  (*entry.mutable_json_payload()->mutable_fields())["message"].set_string_value("Epoch One");
  const auto filter = ParseLogFilter(GetParam().filter);
  ASSERT_TRUE(filter.has_value()) << filter.error().message;
  EXPECT_EQ(Matches(*filter, entry), GetParam().matches);
}
INSTANTIATE_TEST_SUITE_P(
    Rules, ParseLogFilterMeans,
    testing::Values(Row{"severity_number", "severity=400", true}, Row{"severity_below", "severity<500", true},
                    Row{"severity_zero", "severity>0", true}, Row{"severity_not", "severity!=400.0", false},
                    Row{"severity_in_group", "severity=(300 OR 400)", true},
                    Row{"payload_ignores_case", R"(jsonPayload.message="epoch one")", true},
                    Row{"payload_not_equal", R"(jsonPayload.message!="epoch one")", false},
                    Row{"pattern_minds_case", R"(jsonPayload.message=~"epoch")", false},
                    Row{"job_minds_case", R"(resource.labels.job_id="census")", false},
                    Row{"label_minds_case", "labels.team=red", false}, Row{"label", "labels.team=Red", true},
                    Row{"insert_id_minds_case", "NOT insertId=a", true}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(ParseLogFilter, RefusesNumbersThatAreNoSeverity) {
  for (const char* number : {"4", "350", "900", "-100"}) {
    EXPECT_EQ(ParseLogFilter(std::string("NOT severity>=") + number).error(),
              InvalidArgument("filter", std::string("Invalid value for field 'severity': '") + number + "'"));
  }
}

bool Within(const LogBounds& bounds, const logging::v2::LogEntry& entry) {
  const SysTime time = FromProto(entry.timestamp());
  const auto& labels = entry.resource().labels();
  return !bounds.nothing && (!bounds.job_id || labels.at("job_id") == *bounds.job_id) &&
         (!bounds.task_name || labels.at("task_name") == *bounds.task_name ||
          entry.labels().at("task_name") == *bounds.task_name) &&
         time >= bounds.earliest && time <= bounds.latest &&
         (!bounds.insert_id_above || time != bounds.earliest || entry.insert_id() > *bounds.insert_id_above);
}

std::string RandomFilter(std::mt19937& random, int depth) {
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const char* comparators[] = {"=", "!=", "<", "<=", ">", ">=", ":"};
  const std::string digit(1, static_cast<char>('0' + pick(4)));
  switch (pick(depth > 0 ? 9 : 5)) {
    case 0: return std::string("timestamp") + comparators[pick(6)] + "\"1970-01-01T00:00:0" + digit + "Z\"";
    case 1: return std::string("insertId") + comparators[pick(7)] + digit;
    case 2: return std::string("resource.labels.job_id") + comparators[pick(7)] + digit;
    case 3: return std::string("resource.labels.task_name") + comparators[pick(7)] + digit;
    case 4: return std::string("labels.task_name") + comparators[pick(7)] + digit;
    case 5: return "NOT (" + RandomFilter(random, depth - 1) + ")";
    case 6: return "(" + RandomFilter(random, depth - 1) + " OR " + RandomFilter(random, depth - 1) + ")";
    default: return "(" + RandomFilter(random, depth - 1) + " AND " + RandomFilter(random, depth - 1) + ")";
  }
}

TEST(ExtractBounds, WhatMatchesLiesWithin) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  int matched = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = RandomFilter(random, 4);
    const auto filter = ParseLogFilter(text);
    ASSERT_TRUE(filter.has_value()) << text;
    const LogBounds bounds = ExtractBounds(*filter);
    for (int j = 0; j < 10; ++j) {
      logging::v2::LogEntry entry;
      entry.mutable_timestamp()->set_seconds(static_cast<int>(random() % 4));
      entry.set_insert_id(std::to_string(random() % 4));
      (*entry.mutable_resource()->mutable_labels())["job_id"] = std::to_string(random() % 4);
      (*entry.mutable_resource()->mutable_labels())["task_name"] = std::to_string(random() % 4);
      (*entry.mutable_labels())["task_name"] = std::to_string(random() % 4);
      if (!Matches(*filter, entry)) continue;
      ++matched;
      ASSERT_TRUE(Within(bounds, entry)) << "seed " << seed << ": " << text << "\n"
                                         << entry.ShortDebugString();
    }
  }
  EXPECT_GT(matched, 1000);
}

}  // namespace
}  // namespace trainyard::wire
