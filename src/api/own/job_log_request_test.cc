#include "api/own/job_log_request.h"

#include <gtest/gtest.h>

#include <chrono>

namespace trainyard::api {
namespace {

using logging::v2::LogEntry;
using Query = std::vector<std::pair<std::string, std::string>>;

http::Request Request(Query query) {
  http::Request request;
  request.query = std::move(query);
  return request;
}

struct PlaceRow {
  Query query;
  logs::WindowPlace place;
};

TEST(ReadWindowQuery, FindsThePlace) {
  const std::vector<PlaceRow> rows = {
      {{}, logs::FromLine{0}},
      {{{"first", "7"}}, logs::FromLine{7}},
      {{{"before", "9223372036854775807"}}, logs::BeforeLine{9223372036854775807}},
      {{{"last", "true"}}, logs::AtEnd{}},
      {{{"last", "false"}}, logs::FromLine{0}},
      {{{"time", "2023-11-14T22:13:20.5Z"}},
       logs::FromTime{SysTime(std::chrono::milliseconds(1'700'000'000'500))}},
  };
  for (const PlaceRow& row : rows) EXPECT_EQ(ReadWindowQuery(Request(row.query))->place, row.place);
}

TEST(ReadWindowQuery, ReadsTheRest) {
  const Query query = {{"count", "5000"},
                       {"whole", "true"},
                       {"replica", "worker-replica-0"},
                       {"severity", "WARNING"},
                       {"trial", "3"}};
  const logs::WindowQuery read = ReadWindowQuery(Request(query)).value();
  EXPECT_EQ(read.count, logs::kWindowLinesMax);
  EXPECT_TRUE(read.whole);
  const logs::LineFilter filter{
      .replica = "worker-replica-0", .trial_id = "3", .severity_min = LogEntry::WARNING};
  EXPECT_EQ(read.filter, filter);
  EXPECT_EQ(ReadWindowQuery(Request({}))->count, logs::kWindowLinesDefault);
  EXPECT_EQ(ReadWindowQuery(Request({}))->filter, logs::LineFilter{});
}

struct ErrorRow {
  Query query;
  std::string field;
  std::string message;
};

TEST(ReadWindowQuery, SaysWhatIsWrong) {
  const std::string line = "Must be the number of a line: 0 or more";
  const std::vector<ErrorRow> rows = {
      {{{"first", "-1"}}, "first", line},
      {{{"first", ""}}, "first", line},
      {{{"before", "9223372036854775808"}}, "before", line},
      {{{"first", "1"}, {"last", "true"}},
       "last",
       "This cannot be combined with first: a window has only one start"},
      {{{"time", "yesterday"}}, "time", "Invalid time format: yesterday"},
      {{{"last", "1"}}, "last", "Must be true or false"},
      {{{"count", "0"}}, "count", "Must be a number of at least 1"},
      {{{"count", "many"}}, "count", "Must be a number of at least 1"},
      {{{"whole", "yes"}}, "whole", "Must be true or false"},
      {{{"severity", "BAD"}},
       "severity",
       "Must be one of DEFAULT, DEBUG, INFO, NOTICE, WARNING, ERROR, CRITICAL, ALERT and EMERGENCY"},
  };
  for (const ErrorRow& row : rows)
    EXPECT_EQ(ReadWindowQuery(Request(row.query)).error(), InvalidArgument(row.field, row.message));
}

TEST(ReadSearchQuery, ReadsAll) {
  const Query query = {{"query", "a b"}, {"regex", "true"},    {"matchCase", "true"},
                       {"from", "12"},   {"backward", "true"}, {"count", "3"}};
  const logs::SearchQuery read = ReadSearchQuery(Request(query)).value();
  EXPECT_EQ(read.text, "a b");
  EXPECT_TRUE(read.regex && read.match_case && read.backward);
  EXPECT_EQ(read.from, 12);
  EXPECT_EQ(read.count, 3);
  EXPECT_EQ(ReadSearchQuery(Request({{"matchCase", "x"}})).error().field, "matchCase");
  EXPECT_EQ(ReadSearchQuery(Request({{"from", "x"}})).error().field, "from");
  EXPECT_EQ(ReadSearchQuery(Request({{"query", "a"}}))->from, std::nullopt);
}

TEST(ReadSummaryAndDownload, KnowTheirParameters) {
  EXPECT_EQ(ReadSummaryParts(Request({})), logs::kSummaryPartsDefault);
  EXPECT_EQ(ReadSummaryParts(Request({{"buckets", "100000"}})), logs::kSummaryPartsMax);
  EXPECT_EQ(ReadSummaryParts(Request({{"buckets", "0"}})).error().field, "buckets");
  EXPECT_EQ(ReadDownloadQuery(Request({}))->form, logs::DownloadForm::kText);
  EXPECT_EQ(ReadDownloadQuery(Request({{"format", "json"}}))->form, logs::DownloadForm::kJson);
  EXPECT_EQ(ReadDownloadQuery(Request({{"format", "xml"}})).error(),
            InvalidArgument("format", "Must be text or json"));
}

}  // namespace
}  // namespace trainyard::api
