#include <gtest/gtest.h>

#include "cli/gcloud/list_filter.h"
#include "cli/gcloud/output_format.h"
#include "cli/gcloud/table.h"
#include "cli/jobs/job_request.h"
#include "cli/jobs/job_summary.h"
#include "cli/storage/upload.h"

namespace trainyard::cli {
namespace {

Json Parse(const char* text) { return *wire::ParseJsonTree(text); }

TEST(FieldText, FindsAndPrints) {
  Json job = Parse(R"({"a":{"b":["x",{"c":1.50}]},"on":true,"m":{"z":"1","k":"2"},"l":["p","q"],"n":null})");
  EXPECT_EQ(FieldText(job, "a.b[0]"), "x");
  EXPECT_EQ(FieldText(job, "a.b[1].c"), "1.5");
  EXPECT_EQ(FieldText(job, "a.b[2]"), "");
  EXPECT_EQ(FieldText(job, "a.b[x]"), "");
  EXPECT_EQ(FieldText(job, "a.b["), "");
  EXPECT_EQ(FieldText(job, "a[0]"), "");
  EXPECT_EQ(FieldText(job, "on"), "True");
  EXPECT_EQ(FieldText(job, "m"), "k=2;z=1");
  EXPECT_EQ(FieldText(job, "l"), "p;q");
  EXPECT_EQ(FieldText(job, "n"), "");
}

TEST(ParseOutputFormat, NamesWhatThereIs) {
  EXPECT_EQ(ParseOutputFormat("value( a , b.c[0] )")->fields, (std::vector<std::string>{"a", "b.c[0]"}));
  for (const char* bad : {"table", "value()", "value(a.b())", "value(a b)", "value(a", "json,yaml", ""})
    EXPECT_FALSE(ParseOutputFormat(bad).has_value()) << bad;
}

TEST(PrintTable, EndsLinesWithoutSpaces) {
  EXPECT_EQ(PrintTable({{"A", "B"}, {"long", ""}, {"\xc3\xa9", "x"}}), "A     B\nlong\n\xc3\xa9     x\n");
}

struct FitRow {
  const char* name;
  std::size_t columns;
  const char* text;
};
class FittedTable : public testing::TestWithParam<FitRow> {};
TEST_P(FittedTable, Fits) {
  const Rows rows{{"JOB_ID", "STATE", "REASON"},
                  {"census_2026_1", "FAILED", "The replica ran out of mémory"}};
  EXPECT_EQ(PrintTable(rows, {.columns = GetParam().columns}), GetParam().text);
}
INSTANTIATE_TEST_SUITE_P(
    Widths, FittedTable,
    testing::Values(
        FitRow{"pipe", 0,
               "JOB_ID         STATE   REASON\ncensus_2026_1  FAILED  The replica ran out of mémory\n"},
        FitRow{"wide", 52,
               "JOB_ID         STATE   REASON\ncensus_2026_1  FAILED  The replica ran out of mémory\n"},
        FitRow{"last_column_shortened", 51,
               "JOB_ID         STATE   REASON\ncensus_2026_1  FAILED  The replica ran out of mémo…\n"},
        FitRow{"first_column_last", 25, "JOB_ID     STATE   REASON\ncensus_2…  FAILED  The r…\n"},
        FitRow{"columns_left_out", 19, "JOB_ID  STATE   …\ncensu…  FAILED  …\n"},
        FitRow{"one_column", 1, "JOB_ID  …\ncensu…  …\n"}),
    [](const auto& row) { return row.param.name; });

TEST(PrintTable, ColoursHeadingsAndStates) {
  EXPECT_EQ(
      PrintTable({{"JOB_ID", "STATE"}, {"a", "FAILED"}, {"b (best)", ""}}, {.columns = 80, .colours = true}),
      "\x1b[1mJOB_ID\x1b[0m    \x1b[1mSTATE\x1b[0m\n"
      "a         \x1b[31mFAILED\x1b[0m\n"
      "\x1b[32mb (best)\x1b[0m\n");
}

struct RoundedRow {
  const char* name;
  const char* text;
  const char* rounded;
};
class Rounded : public testing::TestWithParam<RoundedRow> {};
TEST_P(Rounded, Number) { EXPECT_EQ(RoundedNumber(GetParam().text), GetParam().rounded); }
INSTANTIATE_TEST_SUITE_P(Rows, Rounded,
                         testing::Values(RoundedRow{"fraction", "0.9215686274509803", "0.9216"},
                                         RoundedRow{"small", "0.000012345678", "1.235e-05"},
                                         RoundedRow{"large", "123456.789", "123457"},
                                         RoundedRow{"huge", "1.23456e20", "1.235e+20"},
                                         RoundedRow{"negative", "-3.14159", "-3.142"},
                                         RoundedRow{"whole", "1234567", "1234567"},
                                         RoundedRow{"short", "1.10", "1.10"},
                                         RoundedRow{"version", "1.10.34567", "1.10.34567"},
                                         RoundedRow{"word", "relu", "relu"}, RoundedRow{"empty", "", ""}),
                         [](const auto& row) { return row.param.name; });

TEST(PrintJobSummary, LeavesOutWhatIsEmpty) {
  std::string text = PrintJobSummary(Parse(R"({"jobId":"j","state":"QUEUED"})"));
  EXPECT_NE(text.find("Job Overview"), std::string::npos);
  EXPECT_EQ(text.find("Summary"), std::string::npos);
}

struct FilterRow {
  const char* name;
  const char* expression;
  int matches;  ///< 1, 0, or -1: refused
};

class Filter : public testing::TestWithParam<FilterRow> {};

TEST_P(Filter, Rules) {
  static const Json job = Parse(
      R"({"jobId":"Train_7","state":"RUNNING","createTime":"2026-11-20T00:00:00Z","n":"10","labels":{"a":"b c"}})");
  Result<ListFilter> filter = ListFilter::Parse(GetParam().expression);
  EXPECT_EQ(filter ? static_cast<int>(filter->Matches(job)) : -1, GetParam().matches)
      << (filter ? "" : filter.error().message);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Filter,
    testing::Values(FilterRow{"equal", "state=running", 1}, FilterRow{"unequal", "state!=RUNNING", 0},
                    FilterRow{"has", "jobId:train", 1}, FilterRow{"star", "jobId:*", 1},
                    FilterRow{"absent", "nope:*", 0}, FilterRow{"absent_unequal", "nope!=x", 1},
                    FilterRow{"numbers", "n>9", 1}, FilterRow{"times", "createTime<2026-11-21", 1},
                    FilterRow{"any", "state:(QUEUED RUNNING)", 1},
                    FilterRow{"any_or", "state=(QUEUED OR RUNNING)", 1},
                    FilterRow{"both", "state=RUNNING jobId=x", 0},
                    FilterRow{"either", "jobId=x OR state=RUNNING", 1},
                    FilterRow{"precedence", "jobId=x AND n=1 OR n=10", 1},
                    FilterRow{"parens", "jobId=x AND (n=1 OR n=10)", 0},
                    FilterRow{"negated", "NOT state=QUEUED AND -n=9", 1},
                    FilterRow{"regex", "jobId~^Train_[0-9]+$", 1}, FilterRow{"no_regex", "jobId!~^X", 1},
                    FilterRow{"quoted", "labels.a='b c'", 1}, FilterRow{"spaces", "  state = RUNNING  ", 1},
                    FilterRow{"empty", "", -1}, FilterRow{"no_value", "state=", -1},
                    FilterRow{"no_operator", "state", -1}, FilterRow{"open", "(state=RUNNING", -1},
                    FilterRow{"closed", "state=RUNNING)", -1}, FilterRow{"bad_regex", "state~(", -1},
                    FilterRow{"open_regex", "state~'('", -1}, FilterRow{"open_quote", "a='b", -1},
                    FilterRow{"dangling", "state=RUNNING AND", 1}, FilterRow{"lonely_or", "OR", -1}),
    [](const auto& row) { return row.param.name; });

TEST(Filter, BoundsNesting) {
  EXPECT_FALSE(ListFilter::Parse(std::string(100'000, '(')).has_value());
  std::string minus;
  for (int i = 0; i < 100'000; ++i) minus += "-";
  EXPECT_FALSE(ListFilter::Parse(minus + "a=b").has_value());
}

TEST(SortBy, SeveralFields) {
  std::vector<Json> jobs{Parse(R"({"i":"a","n":"10"})"), Parse(R"({"i":"b","n":"9"})"),
                         Parse(R"({"i":"c","n":"10"})"), Parse(R"({"i":"d","n":"nan"})")};
  SortBy(jobs, {"~n", "i"});
  std::string order;
  for (const Json& job : jobs) order += TextAt(job, "i");
  EXPECT_EQ(order, "dacb");
}

TEST(ApplyLabels, ClearsSetsAndRemoves) {
  Labels labels{{"a", "1"}, {"b", "2"}};
  EXPECT_EQ(ApplyLabels(labels, {}), std::nullopt);
  EXPECT_EQ(ApplyLabels(labels, {.set = {{"a", "1"}}}), std::nullopt);
  EXPECT_EQ(ApplyLabels(labels, {.clear = true}), Labels{});
  EXPECT_EQ(ApplyLabels(labels, {.clear = true, .set = {{"c", "3"}}}), (Labels{{"c", "3"}}));
  EXPECT_EQ(ApplyLabels(labels, {.set = {{"c", "3"}}, .remove = {"c", "a", "none"}}), (Labels{{"b", "2"}}));
}

TEST(PrintProgress, FitsTheTerminal) {
  EXPECT_EQ(PrintProgress("Uploading a", 5, 10, 80),
            "Uploading a [====================                    ] 50%");
  for (std::size_t columns : {0U, 5U, 18U, 30U, 200U})
    for (std::uint64_t done : {0U, 10U, 20U})
      EXPECT_LE(PrintProgress("Uploading a-very-long-file-name.tar.gz", done, 10, columns).size(),
                std::max<std::size_t>(columns, 4));
}

TEST(Json, SetsAndSorts) {
  Json object = Parse(R"({"b":1,"a":{"x":1},"b":2})");
  EXPECT_EQ(PrintCompact(object), R"({"a":{"x":1},"b":2})");
  SetMember(object, "a.y.z", JsonString("q\"\n\x01"));
  SetMember(object, "b.c", JsonBool(true));
  EXPECT_EQ(PrintCompact(object), R"({"a":{"x":1,"y":{"z":"q\"\n\u0001"}},"b":{"c":true}})");
  EXPECT_EQ(PrintIndented(Parse(R"({"a":[],"b":{},"c":[1,{"d":null}]})")),
            "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    {\n      \"d\": null\n    }\n  ]\n}");
}

}  // namespace
}  // namespace trainyard::cli
