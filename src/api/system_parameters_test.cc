#include "api/system_parameters.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <string>

#include "base/wire/error_body.h"
#include "base/wire/json_tree.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::api {
namespace {

using http::Request;
using http::Response;
using Query = std::vector<std::pair<std::string, std::string>>;

struct Answer {
  int status = 0;
  std::string body;
  Query seen;  ///< the method's query; empty if it was not called
};

boost::asio::awaitable<Result<Response>> Method(Answer& answer, Request& request) {
  answer.seen = request.query;
  if (!request.Query("filter").empty()) co_return std::unexpected(NotFound("gone"));
  co_return Response::Json(
      "{\n  \"jobs\": [\n    {\n      \"jobId\": \"a b\"\n    }\n  ],\n  \"nextPageToken\": \"t\"\n}\n");
}

Answer Ask(Query query, std::string project = "p") {
  Answer answer;
  const MethodForm form{.answer = ml::v1::ListJobsResponse::descriptor, .parameters = "filter pageSize"};
  const http::Handler handler =
      WithSystemParameters(form, [&answer](Request& request) { return Method(answer, request); });
  Request request;
  request.query = std::move(query);
  request.parameters = {{"project", std::move(project)}};
  boost::asio::io_context loop;
  boost::asio::co_spawn(loop, handler(request), [&](std::exception_ptr, Result<Response> response) {
    answer.status = response ? response->status : wire::HttpStatus(response.error().code);
    answer.body = response ? std::get<std::string>(response->body) : wire::PrintErrorBody(response.error());
  });
  loop.run();
  return answer;
}

struct Row {
  const char* name;
  Query query;
  int status;
  const char* part;  ///< of the body, compact
};

class SystemParameters : public testing::TestWithParam<Row> {};

TEST_P(SystemParameters, AreAnswered) {
  const Answer answer = Ask(GetParam().query);
  EXPECT_EQ(answer.status, GetParam().status);
  EXPECT_NE(wire::CompactJson(answer.body).find(GetParam().part), std::string::npos) << answer.body;
  const bool reached = GetParam().status == 200;
  EXPECT_EQ(!answer.seen.empty(), reached && !GetParam().query.empty()) << "checked before the method runs";
}

INSTANTIATE_TEST_SUITE_P(
    Rules, SystemParameters,
    testing::Values(
        Row{"none", {}, 200, R"("nextPageToken":"t")"}, Row{"json", {{"alt", "json"}}, 200, "jobs"},
        Row{"dollar", {{"$alt", "json"}, {"$prettyPrint", "false"}}, 200, "jobs"},
        Row{"proto", {{"alt", "proto"}}, 400, R"("field":"alt")"},
        Row{"media", {{"alt", "media"}}, 400, R"(this method answers json, not \"media\")"},
        Row{"fields", {{"fields", "jobs/jobId"}}, 200, R"({"jobs":[{"jobId":"a b"}]})"},
        Row{"unknown_field", {{"fields", "jobs/x"}}, 400, "Cannot find matching fields for path 'jobs.x'"},
        Row{"bad_fields", {{"fields", "jobs("}}, 400, R"("field":"fields")"},
        Row{"error_form_1",
            {{"$.xgafv", "1"}, {"alt", "x"}},
            400,
            R"("errors":[{"message":"Field: alt Error: Invalid value at 'alt': this method answers json, not \"x\"","domain":"global","reason":"badRequest"}])"},
        Row{"error_form_2", {{"$.xgafv", "2"}}, 200, "jobs"},
        Row{"error_form_3", {{"$.xgafv", "3"}}, 400, R"("field":"$.xgafv")"},
        Row{"pretty", {{"prettyPrint", "true"}}, 200, "jobs"},
        Row{"not_a_bool", {{"prettyPrint", "maybe"}}, 400, R"(TYPE_BOOL)"},
        Row{"quota_user", {{"quotaUser", "1234567890123456789012345678901234567890"}}, 200, "jobs"},
        Row{"long_quota_user",
            {{"quotaUser", "12345678901234567890123456789012345678901"}},
            400,
            R"("field":"quotaUser")"},
        Row{"callback", {{"callback", "f"}}, 400, R"("field":"callback")"},
        Row{"accepted",
            {{"key", "k"},
             {"access_token", "t"},
             {"oauth_token", "t"},
             {"uploadType", "media"},
             {"upload_protocol", "raw"},
             {"trace", "token:x"},
             {"userProject", "u"}},
            200,
            "jobs"},
        Row{"own", {{"pageSize", "3"}}, 200, "jobs"},
        Row{"doubled",
            {{"pageSize", "3"}, {"page_size", "4"}},
            400,
            R"(The query has two different values for 'pageSize')"},
        Row{"doubled_alike", {{"alt", "json"}, {"alt", "json"}}, 200, "jobs"},
        Row{"unknown",
            {{"bogus", "1"}},
            400,
            R"(Invalid JSON payload received. Unknown name \"bogus\": Cannot bind query parameter. Field 'bogus' could not be found in request message.)"},
        Row{"wrong_case", {{"PageSize", "3"}}, 400, R"(Unknown name \"PageSize\")"},
        Row{"malformed", {{"pageSize", "\xff"}}, 400, R"("field":"pageSize")"}),
    [](const auto& row) { return row.param.name; });

TEST(SystemParametersTest, OwnParametersMayComeInSnakeCase) {
  EXPECT_EQ(Ask({{"page_size", "3"}}).seen, (Query{{"pageSize", "3"}}));
}

TEST(SystemParametersTest, AnswersAndErrorsCanBeCompact) {
  EXPECT_EQ(Ask({{"prettyPrint", "false"}}).body, R"({"jobs":[{"jobId":"a b"}],"nextPageToken":"t"})");
  EXPECT_EQ(Ask({{"filter", "x"}, {"prettyPrint", "false"}}).body,
            R"({"error":{"code":404,"message":"gone","status":"NOT_FOUND"}})");
  EXPECT_EQ(Ask({{"alt", "x"}, {"prettyPrint", "false"}}).body.find('\n'), std::string::npos)
      << "read after the mistake";
}

TEST(SystemParametersTest, FieldsLeaveErrorsAlone) {
  EXPECT_NE(Ask({{"filter", "x"}, {"fields", "jobs"}}).body.find("gone"), std::string::npos);
}

TEST(SystemParametersTest, ProjectsHaveTheCharactersOfTheirIds) {
  for (const char* project : {"p", "my-project", "example.com:p", "123456789012", "A_b.c"}) {
    EXPECT_EQ(Ask({{"pageSize", "1"}}, project).status, 200) << project;
  }
  for (const std::string& project :
       {std::string("p/q"), std::string("a b"), std::string("\n"), std::string(".."), std::string("-p"),
        std::string("p%2f"), std::string(129, 'p')}) {
    const Answer answer = Ask({{"pageSize", "1"}}, project);
    EXPECT_EQ(answer.status, 400) << project;
    EXPECT_TRUE(answer.seen.empty()) << project;
    EXPECT_NE(answer.body.find("is not the id of a project"), std::string::npos) << answer.body;
  }
}

TEST(SystemParametersTest, APathThatIsNotUtf8IsRefused) {
  const Answer answer = Ask({{"pageSize", "1"}}, "\xff");
  EXPECT_EQ(answer.status, 400);
  EXPECT_TRUE(answer.seen.empty());
}

}  // namespace
}  // namespace trainyard::api
