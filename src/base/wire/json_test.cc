#include "base/wire/json.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "base/wire/json_tree.h"
#include "trainyard/logging/v2/logging.pb.h"
#include "trainyard/ml/v1/ml.pb.h"
#include "trainyard/storage/v1/storage.pb.h"

namespace trainyard::wire {
namespace {

using google::protobuf::util::MessageDifferencer;

struct Refusal {
  const char* name;
  const char* text;
  const char* field;
  const char* message;
};

class ParseJsonRefuses : public testing::TestWithParam<Refusal> {};

TEST_P(ParseJsonRefuses, InTheTranscodersWords) {
  ml::v1::Job job;
  const Status status = ParseJson(GetParam().text, job, "job");
  ASSERT_FALSE(status.has_value()) << job.ShortDebugString();
  EXPECT_EQ(status.error(), (Error{.code = Code::kInvalidArgument,
                                   .message = GetParam().message,
                                   .field = {},
                                   .violations = {{GetParam().field, GetParam().message}}}));
}

INSTANTIATE_TEST_SUITE_P(
    Shape, ParseJsonRefuses,
    testing::Values(
        Refusal{
            "unknown_name_seen_in_the_wild", R"({"parameter_server_type": "x"})", "job",
            R"(Invalid JSON payload received. Unknown name "parameter_server_type" at 'job': Cannot find field. Did you mean 'trainingInput.parameterServerType'?)"},
        Refusal{
            "similar_name", R"({"trainingInput": {"runtime_verson": "2.1"}})", "job.training_input",
            R"(Invalid JSON payload received. Unknown name "runtime_verson" at 'job.training_input': Cannot find field. Did you mean 'runtimeVersion'?)"},
        Refusal{
            "unknown_name_below", R"({"trainingInput": {"bogusField": {"a": [1]}}})", "job.training_input",
            R"(Invalid JSON payload received. Unknown name "bogusField" at 'job.training_input': Cannot find field.)"},
        Refusal{"unknown_enum_value", R"({"trainingInput": {"hyperparameters": {"goal": "NOPE"}}})",
                "job.training_input.hyperparameters.goal",
                "Invalid value at 'job.training_input.hyperparameters.goal' "
                "(type.googleapis.com/google.cloud.ml.v1.HyperparameterSpec.GoalType), \"NOPE\". Valid "
                "values: MAXIMIZE, MINIMIZE."},
        Refusal{"enum_misspelt", R"({"trainingInput": {"scaleTier": "basic_gpus"}})",
                "job.training_input.scale_tier",
                "Invalid value at 'job.training_input.scale_tier' "
                "(type.googleapis.com/google.cloud.ml.v1.TrainingInput.ScaleTier), \"basic_gpus\". Did you "
                "mean 'BASIC_GPU'?"},
        Refusal{"unknown_enum_number", R"({"state": 55})", "job.state",
                "Invalid value at 'job.state' (type.googleapis.com/google.cloud.ml.v1.Job.State), 55. Valid "
                "values: QUEUED, "
                "PREPARING, RUNNING, SUCCEEDED, FAILED, CANCELLING, CANCELLED."},
        Refusal{"element_of_a_list",
                R"({"trainingInput": {"hyperparameters": {"params": [{}, {"type": true}]}}})",
                "job.training_input.hyperparameters.params[1].type",
                "Invalid value at 'job.training_input.hyperparameters.params[1].type' "
                "(type.googleapis.com/google.cloud.ml.v1.ParameterSpec.ParameterType), true. Valid values: "
                "DOUBLE, "
                "INTEGER, CATEGORICAL, DISCRETE."},
        Refusal{"word_for_an_integer", R"({"trainingInput": {"workerCount": "abc"}})",
                "job.training_input.worker_count",
                R"(Invalid value at 'job.training_input.worker_count' (TYPE_INT64), "abc")"},
        Refusal{"fraction_for_an_integer", R"({"trainingInput": {"workerCount": 1.5}})",
                "job.training_input.worker_count",
                "Invalid value at 'job.training_input.worker_count' (TYPE_INT64), 1.5"},
        Refusal{"integer_too_large", R"({"trainingInput": {"workerCount": 9223372036854775808}})",
                "job.training_input.worker_count",
                "Invalid value at 'job.training_input.worker_count' (TYPE_INT64), 9223372036854775808"},
        Refusal{"int32_too_large", R"({"trainingInput": {"scheduling": {"priority": "2147483648"}}})",
                "job.training_input.scheduling.priority",
                R"(Invalid value at 'job.training_input.scheduling.priority' (TYPE_INT32), "2147483648")"},
        Refusal{"bool_for_a_string", R"({"trainingInput": {"runtimeVersion": true}})",
                "job.training_input.runtime_version",
                "Invalid value at 'job.training_input.runtime_version' (TYPE_STRING), true"},
        Refusal{"bool_in_a_list_of_strings", R"({"trainingInput": {"args": ["a", false]}})",
                "job.training_input.args[1]",
                "Invalid value at 'job.training_input.args[1]' (TYPE_STRING), false"},
        Refusal{"number_for_a_bool", R"({"trainingInput": {"enableWebAccess": 1}})",
                "job.training_input.enable_web_access",
                "Invalid value at 'job.training_input.enable_web_access' (TYPE_BOOL), 1"},
        Refusal{"bytes_not_base64", R"({"etag": "***"})", "job.etag",
                R"(Invalid value at 'job.etag' (TYPE_BYTES), "***")"},
        Refusal{"object_for_a_scalar", R"({"trainingInput": {"region": {}}})", "job.training_input",
                "Invalid value at 'job.training_input' (region), Starting an object on a scalar field"},
        Refusal{"list_for_a_scalar", R"({"trainingInput": {"region": ["a"]}})", "job.training_input",
                "Invalid JSON payload received. Unknown name \"region\" at 'job.training_input': "
                "Proto field is not repeating, cannot start list."},
        Refusal{"list_in_a_list", R"({"trainingInput": {"args": [["a"]]}})", "job.training_input.args[0]",
                "Invalid JSON payload received. Unknown name \"\" at 'job.training_input.args[0]': "
                "Proto field is not repeating, cannot start list."},
        Refusal{
            "scalar_for_a_message", R"({"trainingInput": "x"})", "job.training_input",
            R"(Invalid value at 'job.training_input' (type.googleapis.com/google.cloud.ml.v1.TrainingInput), "x")"},
        Refusal{"duration_without_s", R"({"trainingInput": {"scheduling": {"maxWaitTime": "5"}}})",
                "job.training_input.scheduling.max_wait_time",
                "Invalid value at 'job.training_input.scheduling.max_wait_time' "
                "(type.googleapis.com/google.protobuf.Duration), Field 'maxWaitTime', "
                "Illegal duration format; duration must end with 's'"},
        Refusal{"duration_too_fine", R"({"trainingInput": {"scheduling": {"maxWaitTime": "5.1234567890s"}}})",
                "job.training_input.scheduling.max_wait_time",
                "Invalid value at 'job.training_input.scheduling.max_wait_time' "
                "(type.googleapis.com/google.protobuf.Duration), Field 'maxWaitTime', Duration value exceeds "
                "limits"},
        Refusal{"duration_too_long",
                R"({"trainingInput": {"scheduling": {"maxWaitTime": "-315576000001s"}}})",
                "job.training_input.scheduling.max_wait_time",
                "Invalid value at 'job.training_input.scheduling.max_wait_time' "
                "(type.googleapis.com/google.protobuf.Duration), Field 'maxWaitTime', Duration value exceeds "
                "limits"},
        Refusal{"duration_parts_too_long",
                R"({"trainingInput": {"scheduling": {"maxWaitTime": {"seconds": "999999999999999"}}}})",
                "job.training_input.scheduling.max_wait_time",
                "Invalid value at 'job.training_input.scheduling.max_wait_time' "
                "(type.googleapis.com/google.protobuf.Duration), Field 'maxWaitTime', Duration value exceeds "
                "limits"},
        Refusal{"duration_as_number", R"({"trainingInput": {"scheduling": {"maxWaitTime": 5}}})",
                "job.training_input.scheduling.max_wait_time",
                "Invalid value at 'job.training_input.scheduling.max_wait_time' "
                "(type.googleapis.com/google.protobuf.Duration), Field 'maxWaitTime', "
                "Invalid data type for duration, value is 5"},
        Refusal{"time_without_offset", R"({"createTime": "2020-01-01T00:00:00"})", "job.create_time",
                "Invalid value at 'job.create_time' (type.googleapis.com/google.protobuf.Timestamp), "
                "Field 'createTime', Invalid time format: 2020-01-01T00:00:00"},
        Refusal{"map_value", R"({"labels": {"a": "b", "c": true}})", "job.labels[1].value",
                "Invalid value at 'job.labels[1].value' (TYPE_STRING), true"},
        Refusal{"map_value_object", R"({"labels": {"a": {}}})", "job.labels[0]",
                "Invalid value at 'job.labels[0]' (value), Starting an object on a scalar field"},
        Refusal{"list_for_a_map", R"({"labels": []})", "job",
                "Invalid value at 'job' (Map), Cannot bind a list to map for field 'labels'."},
        Refusal{"map_key_twice", R"({"labels": {"a": "b", "a": "c"}})", "job.labels[1]",
                "Invalid JSON payload received. Unknown name \"a\" at 'job.labels[1]': "
                "Repeated map key: 'a' is already set."},
        Refusal{
            "field_twice", R"({"jobId": "a", "jobId": "b"})", "job",
            "Invalid JSON payload received. Unknown name \"jobId\" at 'job': Field 'job_id' is already set."},
        Refusal{"field_twice_in_two_spellings", R"({"jobId": "a", "job_id": "b"})", "job",
                "Invalid JSON payload received. Unknown name \"job_id\" at 'job': Field 'job_id' is already "
                "set."},
        Refusal{
            "root_list", "[]", "job",
            "Invalid JSON payload received. Unknown name \"\" at 'job': Root element must be a message."}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Syntax, ParseJsonRefuses,
    testing::Values(Refusal{"cut", R"({"jobId": "x")", "",
                            "Invalid JSON payload received. Unexpected end of string. Expected , or } after "
                            "key:value pair.\n\n^"},
                    Refusal{"nothing_after_key", R"({"jobId":})", "",
                            "Invalid JSON payload received. Unexpected token.\n}\n^"},
                    Refusal{
                        "two_documents", "{} x", "",
                        "Invalid JSON payload received. Parsing terminated before end of input.\n{} x\n   ^"},
                    Refusal{"latin_1", "{\"jobId\":\"\xff\"}", "",
                            "Invalid JSON payload received. Encountered non UTF-8 code points.\n\xff\"}\n^"},
                    Refusal{"half_a_surrogate", R"({"jobId":"\ud800"})", "",
                            "Invalid JSON payload received. Missing low surrogate.\n\\ud800\"}\n^"},
                    Refusal{"single_quotes", "{'jobId': 'a'}", "",
                            "Invalid JSON payload received. Unexpected token (syntax error)"}),
    [](const auto& row) { return row.param.name; });

TEST(ParseJson, ARefusalRepeatsNoSecret) {
  for (const char* text :
       {R"({"trainingInput": {"env": [{"name": "A", "secret": "4711", "value": "x"}]}})",
        R"({"trainingInput": {"env": ["A=4711"]}})", R"({"trainingInput": {"env": "A=4711"}})",
        R"({"trainingInput": {"env": {"A": "4711"}}})", R"({"trainingInput": {"env": [["4711"]]}})",
        R"({"trainingInput": {"env": [{"name": "A", "value": ["4711"]}]}})",
        R"({"trainingInput": "{'env': [{'name': 'A', 'value': '4711'}]}"})",
        R"({"trainingInput": {"env": [{"name": "A", "value": "4711" "secret": true}]}})",
        R"({"trainingInput": {"env": [{"name": "A", "value": "4711\ud800"}]}})",
        R"({"trainingInput": {"\u0065nv": [{"name": "A", "value": 4711-of-it}]}})",
        R"({"trainingInput": {"ENV": [{"name": "A", "value": 4711-of-it}]}})",
        R"({"trainingInput": "TOKEN=4711"})", R"({"trainingInput": {"env": [{"name": "A", "4711": "x"}]}})",
        R"({"trainingInput": {"env": [{"name": "A", "value": '4711'}]}})"}) {
    ml::v1::Job job;
    const Status status = ParseJson(text, job);
    ASSERT_FALSE(status) << text;
    EXPECT_THAT(status.error().message, testing::Not(testing::HasSubstr("4711"))) << text;
    EXPECT_THAT(status.error().message, testing::StartsWith("Invalid "));
  }
}

TEST(ParseJson, ReportsAllViolationsInDocumentOrder) {
  ml::v1::Job job;
  const Status status = ParseJson(R"({"a": 1, "trainingInput": {"workerCount": true}})", job);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "Invalid JSON payload received. Unknown name \"a\": Cannot find field.\n"
            "Invalid value at 'training_input.worker_count' (TYPE_INT64), true");
  EXPECT_THAT(status.error().violations, testing::SizeIs(2));
}

TEST(ParseJson, BoundsViolations) {
  std::string text = "{";
  for (int i = 0; i < 1000; ++i) text += "\"x" + std::to_string(i) + "\":1,";
  text.back() = '}';
  ml::v1::Job job;
  const Status status = ParseJson(text, job);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().violations, testing::SizeIs(50));
}

std::string NestedLists(std::size_t depth) {
  return R"({"jsonPayload":{"x":)" + std::string(depth, '[') + std::string(depth, ']') + "}}";
}

TEST(ParseJson, NestingEndsAtTheLimit) {
  logging::v2::LogEntry entry;
  EXPECT_TRUE(ParseJson(NestedLists(kJsonDepthMax - 2), entry));
  const Status status = ParseJson(NestedLists(kJsonDepthMax - 1), entry);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "Invalid JSON payload received. Message too deep. Max recursion depth reached");
  EXPECT_FALSE(ParseJson(std::string(1'000'000, '['), entry));
}

std::string ManyLabels(std::size_t count) {
  std::string text = R"({"labels":{)";
  for (std::size_t i = 0; i < count; ++i) text += "\"k" + std::to_string(i) + "\":\"\",";
  text.back() = '}';
  return text + "}";
}

std::string ManyElements(const std::string& before, const std::string& element, std::size_t count,
                         const std::string& after) {
  std::string text = before;
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + element;
  return text + after;
}

TEST(ParseJson, AsManyValuesAsThereMayBe) {
  ml::v1::Job job;
  const std::size_t around = 2;  // the root and the map
  EXPECT_TRUE(ParseJson(ManyLabels(kJsonValuesMax - around), job));
  EXPECT_EQ(job.labels_size(), kJsonValuesMax - around);
}

struct Flood {
  const char* name;
  std::string text;
  const char* root;
  const char* field;
};

class ParseJsonFlood : public testing::TestWithParam<Flood> {};

TEST_P(ParseJsonFlood, EndsWithTheFieldThatHasTooManyValues) {
  ml::v1::Job job;
  const Status status = ParseJson(GetParam().text, job, GetParam().root);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kInvalidArgument);
  const std::string field = GetParam().field;
  const std::string where = field.empty() ? "" : ", at '" + field + "'";
  EXPECT_EQ(status.error().message,
            "Invalid JSON payload received. More than " + std::to_string(kJsonValuesMax) + " values" + where);
  ASSERT_THAT(status.error().violations, testing::SizeIs(1));
  EXPECT_EQ(status.error().violations[0].field, field);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, ParseJsonFlood,
    testing::Values(Flood{"map", ManyLabels(kJsonValuesMax), "job", "job.labels"},
                    Flood{"list", ManyElements(R"({"trainingInput":{"args":[)", "\"\"", 100'000, "]}}"), "",
                          "trainingInput.args"},
                    Flood{"members", ManyElements("{", R"("a":1)", 100'000, "}"), "", ""},
                    Flood{"lists_of_lists", ManyElements(R"({"x":[)", "[1,[2]]", 100'000, "]}"), "job",
                          "job.x"},
                    // A text with a syntax error is not parsed twice.
                    Flood{"cut", ManyElements(R"({"labels":{)", R"("a":"")", 100'000, ""), "", "labels"}),
    [](const auto& row) { return row.param.name; });

TEST(ParseJson, ALongTextWithASyntaxErrorIsNotReadAgain) {
  ml::v1::Job job;
  const Status status = ParseJson("{jobId:" + ManyElements("[", "1", 100'000, "]}"), job);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "Invalid JSON payload received. Unexpected token (syntax error)");
}

TEST(ParseJson, WhatItAcceptsPrints) {
  logging::v2::ListLogEntriesResponse response;
  const std::size_t levels = kJsonDepthMax - 1;
  std::string text = R"({"jsonPayload":)";
  for (std::size_t i = 0; i < levels; ++i) text += i % 2 == 0 ? R"({"x":)" : "[";
  text += "1";
  for (std::size_t i = levels; i-- > 0;) text += i % 2 == 0 ? "}" : "]";
  ASSERT_TRUE(ParseJson(text + "}", *response.add_entries()));
  EXPECT_NE(PrintJsonCompact(response).find(text), std::string::npos);
  text = R"({"jsonPayload":)";
  for (std::size_t i = 0; i < levels; ++i) text += R"({"x":)";
  text += "1" + std::string(levels, '}');
  ASSERT_TRUE(ParseJson(text + "}", *response.add_entries()));
  EXPECT_NE(PrintJsonCompact(response).find(text), std::string::npos);
}

struct Reading {
  const char* name;
  const char* text;
  const char* same_as;  ///< in canonical form
};

class ParseJsonAccepts : public testing::TestWithParam<Reading> {};

TEST_P(ParseJsonAccepts, Spelling) {
  ml::v1::Job job;
  const Status status = ParseJson(GetParam().text, job, "job");
  ASSERT_TRUE(status.has_value()) << status.error().message;
  EXPECT_EQ(PrintJsonCompact(job), GetParam().same_as);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, ParseJsonAccepts,
    testing::Values(
        Reading{"empty", "", "{}"}, Reading{"blank", " \n", "{}"},
        Reading{"snake_case", R"({"job_id": "a", "training_input": {"job_dir": "gs://b"}})",
                R"({"jobId":"a","trainingInput":{"jobDir":"gs://b"}})"},
        Reading{"null_is_absent",
                R"({"jobId": null, "trainingInput": {"args": null, "hyperparameters": null}})",
                R"({"trainingInput":{}})"},
        Reading{"number_as_text", R"({"trainingInput": {"runtimeVersion": 2.10, "args": ["\"", -1e3]}})",
                R"({"trainingInput":{"args":["\"","-1e3"],"runtimeVersion":"2.10"}})"},
        Reading{"number_as_text_of_a_map", R"({"labels": {"a": 1}})", R"({"labels":{"a":"1"}})"},
        Reading{"int64_as_text", R"({"trainingInput": {"workerCount": "9"}})",
                R"({"trainingInput":{"workerCount":"9"}})"},
        Reading{"int64_as_number", R"({"trainingInput": {"workerCount": 9}})",
                R"({"trainingInput":{"workerCount":"9"}})"},
        Reading{"int64_least", R"({"trainingInput": {"workerCount": "-9223372036854775808"}})",
                R"({"trainingInput":{"workerCount":"-9223372036854775808"}})"},
        Reading{"int64_with_exponent", R"({"trainingInput": {"workerCount": 1e3}})",
                R"({"trainingInput":{"workerCount":"1000"}})"},
        Reading{"int32_as_text", R"({"trainingInput": {"scheduling": {"priority": "7"}}})",
                R"({"trainingInput":{"scheduling":{"priority":7}}})"},
        Reading{"enum_in_any_case",
                R"({"trainingInput": {"scaleTier": "basic-gpu", "hyperparameters": {"goal": "Maximize"}}})",
                R"({"trainingInput":{"hyperparameters":{"goal":"MAXIMIZE"},"scaleTier":"BASIC_GPU"}})"},
        Reading{"enum_by_number", R"({"state": 5})", R"({"state":"FAILED"})"},
        Reading{"first_enum_value_stays", R"({"trainingInput": {"scaleTier": "BASIC"}})",
                R"({"trainingInput":{"scaleTier":"BASIC"}})"},
        Reading{"infinity", R"({"trainingOutput": {"consumedMLUnits": "-Infinity"}})",
                R"({"trainingOutput":{"consumedMLUnits":"-Infinity"}})"},
        Reading{"nan", R"({"trainingOutput": {"consumedMLUnits": "NaN"}})",
                R"({"trainingOutput":{"consumedMLUnits":"NaN"}})"},
        Reading{"one_value_for_a_list", R"({"trainingInput": {"args": "a"}})",
                R"({"trainingInput":{"args":["a"]}})"},
        Reading{"offset", R"({"createTime": "2020-01-01T00:00:00.5+02:00"})",
                R"({"createTime":"2019-12-31T22:00:00.500Z"})"},
        Reading{"duration_in_parts",
                R"({"trainingInput": {"scheduling": {"maxWaitTime": {"seconds": 5, "nanos": 0}}}})",
                R"({"trainingInput":{"scheduling":{"maxWaitTime":"5s"}}})"},
        Reading{"duration", R"({"trainingInput": {"scheduling": {"maxWaitTime": "3600s"}}})",
                R"({"trainingInput":{"scheduling":{"maxWaitTime":"3600s"}}})"},
        Reading{"url_safe_bytes", R"({"etag": "A-_A"})", R"({"etag":"A+/A"})"},
        Reading{"last_comma", R"({"jobId": "a",})", R"({"jobId":"a"})"},
        Reading{"escapes", R"({"jobId": "\u0041\n\ud83d\ude00"})", "{\"jobId\":\"A\\n\xF0\x9F\x98\x80\"}"}),
    [](const auto& row) { return row.param.name; });

TEST(ParseJson, ReadsStructsAsTheyAre) {
  logging::v2::LogEntry entry;
  const char* text = R"({"jsonPayload":{"a":[1,null,"x",{"b":true}]}})";
  ASSERT_TRUE(ParseJson(text, entry));
  EXPECT_EQ(PrintJsonCompact(entry), text);
}

TEST(PrintJson, IndentsByTwo) {
  ml::v1::Job job;
  job.set_job_id("a{\"}");
  job.mutable_training_input()->add_args("x");
  job.mutable_training_output();
  EXPECT_EQ(
      PrintJson(job),
      "{\n  \"jobId\": \"a{\\\"}\",\n  \"trainingInput\": {\n    \"args\": [\n      \"x\"\n    ]\n  },\n"
      "  \"trainingOutput\": {}\n}\n");
  EXPECT_EQ(PrintJson(ml::v1::ListJobsResponse()), "{}\n");
}

TEST(PrintJson, PrintsWhatTheMappingRefuses) {
  logging::v2::ListLogEntriesResponse page;
  logging::v2::LogEntry& entry = *page.add_entries();
  entry.mutable_timestamp()->set_seconds(std::int64_t{1} << 60);
  entry.mutable_receive_timestamp()->set_nanos(-1);
  entry.mutable_http_request()->mutable_latency()->set_seconds(std::int64_t{1} << 60);
  entry.mutable_http_request()->mutable_latency()->set_nanos(-1);
  auto* value = &(*entry.mutable_json_payload()->mutable_fields())["x"];
  for (int i = 0; i < 5000; ++i) {
    value = i % 2 == 0 ? &(*value->mutable_struct_value()->mutable_fields())["y"]
                       : value->mutable_list_value()->add_values();
  }
  const std::string text = PrintJsonCompact(page);
  EXPECT_THAT(text, testing::HasSubstr(R"("timestamp":"9999-12-31T23:59:59Z")"));
  EXPECT_THAT(text, testing::HasSubstr(R"("receiveTimestamp":"1970-01-01T00:00:00Z")"));
  EXPECT_THAT(text, testing::HasSubstr(R"("latency":"315576000000s")"));
  EXPECT_THAT(text, testing::HasSubstr("(nested too deep)"));
  logging::v2::ListLogEntriesResponse again;
  EXPECT_TRUE(ParseJson(text, again));
}

TEST(PrintJson, ProtoNames) {
  ml::v1::TrainingInput input;
  input.set_scale_tier(ml::v1::TrainingInput::CUSTOM);
  input.set_worker_count(2);
  EXPECT_EQ(PrintJsonProtoNames(input), R"({"scale_tier":"CUSTOM","worker_count":"2"})");
}

TEST(ParseJson, ReadsWhatItPrints) {
  storage::v1::Object object;
  object.set_name("a/b");
  object.set_size(18446744073709551615ULL);
  (*object.mutable_metadata())["k"] = "v<>\"\\";
  object.mutable_updated()->set_nanos(1);
  storage::v1::Object again;
  ASSERT_TRUE(ParseJson(PrintJson(object), again));
  EXPECT_TRUE(MessageDifferencer::Equals(object, again));
}

TEST(PrintJson, SortsMapsByKey) {
  for (int round = 0; round < 50; ++round) {  // each map has its own order
    ml::v1::Job job;
    for (const char* key : {"c", "a", "b"}) (*job.mutable_labels())[key] = "";
    EXPECT_EQ(PrintJsonCompact(job), R"({"labels":{"a":"","b":"","c":""}})");
  }
}

}  // namespace
}  // namespace trainyard::wire
