#include "base/wire/filter.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/wire/filter_operand.h"
#include "base/wire/json.h"
#include "trainyard/logging/v2/logging.pb.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::wire {
namespace {

logging::v2::LogEntry SomeEntry() {
  logging::v2::LogEntry entry;
  const Status read = ParseJson(R"({
    "timestamp": "2026-11-20T18:02:42.000000001Z", "insertId": "0005",
    "logName": "projects/p/logs/ml.googleapis.com%2FJ", "severity": "WARNING",
    "textPayload": "Epoch 3: Loss 0.25",
    "resource": {"type": "ml_job", "labels": {"job_id": "J", "task_name": "master-replica-0"}},
    "labels": {"ml.googleapis.com/trial_id": "7", "a.b": "dots"},
    "jsonPayload": {"epoch": 3, "done": false, "none": null, "note": "it's", "deep": {"list": ["x", {"y": "z"}]}},
    "httpRequest": {"latency": "1.5s", "status": 200}, "errorGroups": [{"id": "g1"}, {"id": "g2"}]})",
                                entry);
  EXPECT_TRUE(read.has_value()) << read.error().message;
  return entry;
}

struct Row {
  const char* name;
  const char* filter;
  bool matches;
};
class FilterOnEntry : public testing::TestWithParam<Row> {};

TEST_P(FilterOnEntry, Matches) {
  const auto filter = ParseFilter(GetParam().filter);
  ASSERT_TRUE(filter.has_value()) << filter.error().message;
  EXPECT_TRUE(CheckFilter(*filter, *logging::v2::LogEntry::descriptor()));
  EXPECT_EQ(Matches(*filter, SomeEntry()), GetParam().matches);
}

const auto kRowName = [](const auto& row) { return std::string(row.param.name); };

INSTANTIATE_TEST_SUITE_P(
    Comparisons, FilterOnEntry,
    testing::Values(
        Row{"empty", "", true}, Row{"blank", " \n\t", true}, Row{"comment", "-- nothing\n", true},
        Row{"equal", R"(resource.type="ml_job")", true},
        Row{"equal_unquoted", "resource.type = ml_job", true},
        Row{"equal_minds_case", R"(resource.labels.job_id="j")", false},
        Row{"snake_case", R"(text_payload:"epoch 3")", true},
        Row{"not_equal", R"(resource.type!="ml_job")", false},
        Row{"has_ignores_case", R"(textPayload:"LOSS")", true},
        Row{"has_not", R"(textPayload:"accuracy")", false},
        Row{"glob", "resource.labels.task_name:master*", true},
        Row{"glob_end", "resource.labels.task_name=*-1", false},
        Row{"quoted_star", R"(resource.labels.task_name:"master*")", false},
        Row{"label_quoted", R"(labels."ml.googleapis.com/trial_id"="7")", true},
        Row{"label_with_dots", R"(labels.a.b="dots")", true}, Row{"label_missing", R"(labels.x="7")", false},
        Row{"label_missing_not_equal", R"(labels.x!="7")", false},
        Row{"label_missing_negated", R"(NOT labels.x="7")", true},
        Row{"text_order", R"(insertId>"0004")", true}, Row{"text_order_not", R"(insertId>"0005")", false},
        Row{"severity_order", "severity>=WARNING", true}, Row{"severity_above", "severity>warning", false},
        Row{"severity_below", "severity<ERROR", true}, Row{"severity_has", "severity:WARNING", true},
        Row{"severity_pattern", R"(severity=~"^WARN")", true},
        Row{"time_equal", R"(timestamp="2026-11-20T18:02:42.000000001Z")", true},
        Row{"time_offset", R"(timestamp<"2026-11-20T19:02:42.5+01:00")", true},
        Row{"time_below", R"(timestamp<"2026-11-20T18:02:42.000000001Z")", false},
        Row{"date", R"(timestamp>=2026-11-20 AND timestamp<"2026-11-21")", true},
        Row{"unset_time", R"(receiveTimestamp<"2030-01-01T00:00:00Z")", false},
        Row{"duration", "httpRequest.latency>1s", true}, Row{"number", "httpRequest.status=200", true},
        Row{"number_as_float", "httpRequest.status<=2.5e2", true},
        Row{"default_is_there", "traceSampled=false", true}, Row{"bool", "traceSampled=TRUE", false},
        Row{"presence", "textPayload:*", true}, Row{"presence_not", "trace:*", false},
        Row{"presence_of_message", "operation:*", false}, Row{"struct_number", "jsonPayload.epoch>2", true},
        Row{"struct_number_equal", "jsonPayload.epoch=3.0", true},
        Row{"struct_bool", "jsonPayload.done=false", true},
        Row{"struct_list", "jsonPayload.deep.list=x", true},
        Row{"struct_through_list", "jsonPayload.deep.list.y=z", true},
        Row{"struct_missing", "jsonPayload.nothing!=1", false}, Row{"struct_has", "jsonPayload:IT'S", true},
        Row{"list_any", "errorGroups.id=g2", true}, Row{"list_none", "errorGroups.id!=g2", false},
        Row{"pattern", R"(textPayload=~"Loss \d\.\d+$")", true},
        Row{"pattern_minds_case", R"(textPayload=~"loss")", false},
        Row{"pattern_flag", R"(textPayload=~"(?i)loss")", true},
        Row{"pattern_not", R"(textPayload!~"Loss")", false}, Row{"null", "jsonPayload.none=NULL_VALUE", true},
        Row{"null_is_there", "jsonPayload.none:*", true},
        Row{"null_of_another", "jsonPayload.epoch=NULL_VALUE", false},
        Row{"default_below_unset", R"(operation.producer="")", true},
        Row{"default_below_unset_not_equal", R"(operation.producer!="x")", true},
        Row{"default_below_unset_presence", "operation.producer:*", false},
        Row{"number_and_nan", "httpRequest.status>NaN", false},
        Row{"number_below_infinity", "httpRequest.status<Infinity", true},
        Row{"number_above_minus_infinity", "httpRequest.status>-infinity", true},
        Row{"length_in_ms", "httpRequest.latency=1500ms", true},
        Row{"length_in_minutes", "httpRequest.latency<0.1m", true},
        Row{"length_in_us", "httpRequest.latency>1.5e6us", false},
        Row{"has_empty_label", R"(labels."ml.googleapis.com/trial_id":"")", true},
        Row{"value_with_colon", R"(textPayload:"3: l")", true},
        Row{"pattern_not_on_missing", R"(labels.x!~"Loss")", false}),
    kRowName);

INSTANTIATE_TEST_SUITE_P(
    Logic, FilterOnEntry,
    testing::Values(Row{"and", "insertId=0005 AND severity=WARNING", true},
                    Row{"implicit_and", "insertId=0005 severity=ERROR", false},
                    Row{"or", "insertId=1 OR severity=WARNING", true},
                    Row{"or_binds_tighter", "insertId=1 AND severity=ERROR OR severity=WARNING", false},
                    Row{"parentheses", "(insertId=1 AND severity=ERROR) OR severity=WARNING", true},
                    Row{"not", "NOT severity=ERROR", true}, Row{"minus", "-severity=ERROR", true},
                    Row{"twice", "NOT NOT severity=ERROR", false},
                    Row{"minus_group", "-(severity=ERROR OR insertId=0005)", false},
                    Row{"values", R"(resource.type=("cloudml_job" OR "ml_job"))", true},
                    Row{"values_none", "severity=(ERROR OR INFO)", false},
                    Row{"values_and", "textPayload:(epoch AND loss)", true},
                    Row{"values_not", "textPayload:(epoch AND NOT loss)", false}, Row{"search", "loss", true},
                    Row{"search_quoted", R"("epoch 3")", true}, Row{"search_label", "googleapis", true},
                    Row{"search_struct", "it's", true}, Row{"search_two", "loss accuracy", false},
                    Row{"search_number", "0.25", true}, Row{"search_end", "dots.", false},
                    Row{"lower_case_and_is_text", "loss and epoch", false},
                    Row{"search_not", "NOT accuracy -replica-1", true},
                    Row{"comment_between", "severity=WARNING -- or worse\nAND insertId=0005", true},
                    Row{"word_before_group", "loss (accuracy OR epoch)", true},
                    Row{"path_before_group", "severity=WARNING (accuracy OR insertId=0005)", true},
                    Row{"keyword_before_group", "insertId=0005 AND (severity=WARNING)", true},
                    Row{"not_before_group", "NOT (severity=WARNING)", false},
                    Row{"log_id", R"(log_id("ml.googleapis.com/J"))", true},
                    Row{"log_id_other", R"(log_id("J"))", false},
                    Row{"log_id_in_a_term", R"(-log_id("a*b") severity=WARNING)", true},
                    Row{"escapes", R"("\"" OR "\u0045poch")", true}),
    kRowName);

struct Mistake {
  const char* name;
  std::string filter;
  const char* message;
};
class ParseFilterRefuses : public testing::TestWithParam<Mistake> {};
TEST_P(ParseFilterRefuses, SaysWhere) {
  auto filter = ParseFilter(GetParam().filter);
  ASSERT_FALSE(filter.has_value());
  EXPECT_EQ(filter.error(), InvalidArgument("filter", GetParam().message));
}
INSTANTIATE_TEST_SUITE_P(
    Syntax, ParseFilterRefuses,
    testing::Values(
        Mistake{"two_comparators", "a = = b",
                "Unparseable filter: syntax error at line 1, column 5, token '='"},
        Mistake{"nothing_right",
                "a=", "Unparseable filter: syntax error at line 1, column 3, unexpected end of filter"},
        Mistake{"open", "(a=b",
                "Unparseable filter: syntax error at line 1, column 5, unexpected end of filter"},
        Mistake{"close", "a=b)", "Unparseable filter: syntax error at line 1, column 4, token ')'"},
        Mistake{"second_line", "a=b AND\n OR c",
                "Unparseable filter: syntax error at line 2, column 2, token 'OR'"},
        Mistake{"quote", "a=\"b", "Unparseable filter: syntax error at line 1, column 3, token '\"'"},
        Mistake{"function", "sample(insertId, 0.1)",
                "Unparseable filter: function 'sample' at line 1, column 1 is not supported; log_id is"},
        Mistake{"function_later", "a=b\n  ip_in_range(x, \"10.0.0.0/8\")",
                "Unparseable filter: function 'ip_in_range' at line 2, column 3 is not supported; log_id is"},
        Mistake{"function_search", "SEARCH(\"x\")",
                "Unparseable filter: function 'SEARCH' at line 1, column 1 is not supported; log_id is"},
        Mistake{"log_id_alone", "log_id()",
                "Unparseable filter: syntax error at line 1, column 8, token ')'"},
        Mistake{"path_function", "a.b(c)",
                "Unparseable filter: function 'a.b' at line 1, column 1 is not supported; log_id is"},
        Mistake{"empty_group", "()", "Unparseable filter: syntax error at line 1, column 2, token ')'"},
        Mistake{"too_deep", std::string(51, '('), "Filter is nested too deep"},
        Mistake{"too_long", std::string(20'001, 'x'), "Filter is longer than 20000 characters"},
        Mistake{"latin_1", "a=\xe4", "Filter is not valid UTF-8"},
        Mistake{"pattern", R"(a=~"(")",
                "Unparseable filter: regular expressions must be valid RE2: missing ): ("}),
    [](const auto& row) { return row.param.name; });

TEST(ParseFilter, LimitsTheLengthOfPatterns) {
  const auto with = [](std::size_t length) {
    const std::string half(length / 2, 'x');
    return ParseFilter("a=~\"" + half + "\" b!~\"" + half + "\"");
  };
  EXPECT_TRUE(with(kFilterPatternsLengthMax));
  EXPECT_FALSE(with(kFilterPatternsLengthMax + 2));
}

TEST(ParseFilter, LimitsPatterns) {
  std::string text;
  for (int i = 0; i < 21; ++i) text += "a=~\"x\" ";
  EXPECT_EQ(ParseFilter(text).error().message, "Filter has too many regular expressions");
}

TEST(CheckFilter, KnowsTheNamesThatFieldsHaveInJson) {
  ml::v1::Job job;
  job.mutable_training_output()->set_consumed_ml_units(1.5);
  for (const char* text : {"trainingOutput.consumedMLUnits>1", "training_output.consumed_ml_units>1"}) {
    const auto filter = ParseFilter(text);
    ASSERT_TRUE(filter.has_value());
    EXPECT_TRUE(CheckFilter(*filter, *ml::v1::Job::descriptor())) << text;
    EXPECT_TRUE(Matches(*filter, job)) << text;
  }
  EXPECT_FALSE(CheckFilter(*ParseFilter("trainingOutput.consumedMlUnits>1"), *ml::v1::Job::descriptor()))
      << "no answer has that name";
}

TEST(CheckFilter, NamesWhatTheTypeLacks) {
  const auto check = [](const char* text) {
    return CheckFilter(*ParseFilter(text), *logging::v2::LogEntry::descriptor()).error();
  };
  EXPECT_EQ(check("NOT (a.b=1)"), InvalidArgument("filter", "Field not found: 'a.b'"));
  EXPECT_EQ(check("textPayload.x=1"), InvalidArgument("filter", "Field not found: 'textPayload.x'"));
  EXPECT_EQ(check("severity=BAD"), InvalidArgument("filter", "Invalid value for field 'severity': 'BAD'"));
  EXPECT_EQ(check("timestamp>yesterday"),
            InvalidArgument("filter", "Invalid value for field 'timestamp': 'yesterday'"));
  EXPECT_EQ(check("resource=x"), InvalidArgument("filter", "Invalid value for field 'resource': 'x'"));
  EXPECT_EQ(check("traceSampled>true"),
            InvalidArgument("filter", "Invalid value for field 'traceSampled': 'true'"));
  EXPECT_EQ(check("httpRequest.status=ok"),
            InvalidArgument("filter", "Invalid value for field 'httpRequest.status': 'ok'"));
}

// libstdc++'s from_chars looked for the end of the string behind texts that begin like "nan".
TEST(ReadNumber, EndsWithTheText) {
  for (const std::string_view text : {"n", "ns99", "-inf", "i"}) {
    const std::vector<char> alone(text.begin(), text.end());  // no NUL behind it, which ASan would notice
    EXPECT_FALSE(ReadNumber({alone.data(), alone.size()}).has_value()) << text;
  }
  EXPECT_EQ(ReadNumber("+12.5e1"), 125);
  EXPECT_FALSE(ReadNumber("-").has_value());
}

TEST(Filter, WorksOnJobsToo) {
  ml::v1::Job job;
  job.set_job_id("rnn_5");
  job.set_state(ml::v1::Job::FAILED);
  job.mutable_create_time()->set_seconds(1'700'000'000);
  (*job.mutable_labels())["team"] = "a";
  for (const auto& [text, matches] :
       {std::pair("jobId:rnn* AND state:FAILED", true), std::pair("jobId:census*", false),
        std::pair("jobId=rnn_5 labels.team=a", true), std::pair("createTime>2024-01-01", false),
        std::pair("state!=FAILED", false), std::pair("startTime:*", false),
        std::pair("trainingInput.region=x", false)}) {
    const auto filter = ParseFilter(text);
    ASSERT_TRUE(filter.has_value()) << text;
    EXPECT_TRUE(CheckFilter(*filter, *ml::v1::Job::descriptor())) << text;
    EXPECT_EQ(Matches(*filter, job), matches) << text;
  }
}

}  // namespace
}  // namespace trainyard::wire
