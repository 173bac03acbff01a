#include "base/wire/error_body.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::wire {
namespace {

TEST(PrintErrorBody, FieldBecomesBadRequest) {
  EXPECT_EQ(PrintErrorBody(InvalidArgument("runtime_version", "not supported")), R"({
  "error": {
    "code": 400,
    "message": "Field: runtime_version Error: not supported",
    "status": "INVALID_ARGUMENT",
    "details": [
      {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [
          {
            "field": "runtime_version",
            "description": "not supported"
          }
        ]
      }
    ]
  }
}
)");
}

TEST(PrintErrorBody, NoFieldNoDetails) {
  EXPECT_EQ(PrintErrorBody(NotFound("no \"x\"")), R"({
  "error": {
    "code": 404,
    "message": "no \"x\"",
    "status": "NOT_FOUND"
  }
}
)");
}

TEST(PrintStorageErrorBody, HasAReason) {
  EXPECT_EQ(PrintStorageErrorBody(NotFound("No such object: b/o")), R"({
  "error": {
    "code": 404,
    "message": "No such object: b/o",
    "errors": [
      {
        "message": "No such object: b/o",
        "domain": "global",
        "reason": "notFound"
      }
    ]
  }
}
)");
  EXPECT_EQ(StorageHttpStatus(Code::kFailedPrecondition), 412);
}

TEST(ErrorBody, ClientReadsWhatServerPrints) {
  const Error several{.code = Code::kInvalidArgument,
                      .message = "a\nb",
                      .field = {},
                      .violations = {{"job", "a"}, {"", "b"}}};
  for (int number = 1; number <= 16; ++number) {
    const Error plain{.code = static_cast<Code>(number), .message = "why \u00e4 \x01", .field = {}};
    const Error with_field{.code = static_cast<Code>(number), .message = "why", .field = "job.job_id"};
    EXPECT_EQ(ParseErrorBody(HttpStatus(plain.code), PrintErrorBody(plain)), plain);
    EXPECT_EQ(ParseErrorBody(HttpStatus(plain.code), PrintErrorBody(with_field)), with_field);
    Error with_info = with_field;
    with_info.info = {.reason = "R", .domain = "d.e", .metadata = {{"b", "1"}, {"a", "\u00e4"}}};
    EXPECT_EQ(ParseErrorBody(HttpStatus(plain.code), PrintErrorBody(with_info)), with_info);
  }
  EXPECT_EQ(ParseErrorBody(400, PrintErrorBody(several)), several);
}

TEST(ErrorBody, InvalidUtf8StaysJson) {
  const std::string body = PrintErrorBody(NotFound("a\xff z"));
  EXPECT_EQ(ParseErrorBody(404, body), NotFound("a\xEF\xBF\xBD z"));
}

struct Foreign {
  const char* name;
  int status;
  std::string body;
  Error error;
};
class ParseErrorBodyReads : public testing::TestWithParam<Foreign> {};
TEST_P(ParseErrorBodyReads, Foreign) {
  EXPECT_EQ(ParseErrorBody(GetParam().status, GetParam().body), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Bodies, ParseErrorBodyReads,
    testing::Values(
        Foreign{"text", 502, "<html>bad gateway", {Code::kUnavailable, "<html>bad gateway", ""}},
        Foreign{"nothing", 404, "", {Code::kNotFound, "HTTP status 404", ""}},
        Foreign{
            "long_text", 400, std::string(10000, 'x'), {Code::kInvalidArgument, std::string(4096, 'x'), ""}},
        Foreign{"error_is_text", 401, R"({"error":"x"})", {Code::kUnauthenticated, R"({"error":"x"})", ""}},
        Foreign{"storage",
                412,
                PrintStorageErrorBody({Code::kFailedPrecondition, "no", ""}),
                {Code::kFailedPrecondition, "no", ""}},
        Foreign{"unknown_status",
                418,
                R"({"error":{"status":"TEA","message":"m"}})",
                {Code::kInvalidArgument, "m", ""}},
        Foreign{
            "odd_details",
            409,
            R"({"error":{"details":[5,{"@type":1},{"@type":"type.googleapis.com/google.rpc.BadRequest"}]}})",
            {Code::kAlreadyExists, "", ""}}),
    [](const auto& row) { return row.param.name; });

TEST(PrintErrorBodyTest, QuotaFailuresHaveSubjects) {
  Error error{.code = Code::kResourceExhausted, .message = "Quota failure for project P. M. R", .field = ""};
  error.violations.push_back({.field = "P", .description = "M."});
  EXPECT_EQ(PrintErrorBody(error), R"({
  "error": {
    "code": 429,
    "message": "Quota failure for project P. M. R",
    "status": "RESOURCE_EXHAUSTED",
    "details": [
      {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [
          {
            "subject": "P",
            "description": "M."
          }
        ]
      }
    ]
  }
}
)");
}

TEST(PrintErrorBodyTest, AReasonForProgramsIsADetail) {
  const Error error{
      .code = Code::kPermissionDenied,
      .message = "no",
      .info = ErrorInfo{.reason = "IAM_PERMISSION_DENIED",
                        .domain = "iam.googleapis.com",
                        .metadata = {{"permission", "ml.jobs.get"}, {"resource", "projects/p\xff"}}}};
  EXPECT_EQ(PrintErrorBody(error), R"({
  "error": {
    "code": 403,
    "message": "no",
    "status": "PERMISSION_DENIED",
    "details": [
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "IAM_PERMISSION_DENIED",
        "domain": "iam.googleapis.com",
        "metadata": {
          "permission": "ml.jobs.get",
          "resource": "projects/p�"
        }
      }
    ]
  }
}
)");
}

TEST(PrintStorageErrorBody, SaysWhetherACredentialWasShown) {
  Error error{.code = Code::kUnauthenticated, .message = "m"};
  const auto body = [](const char* reason) {
    return std::string(R"({
  "error": {
    "code": 401,
    "message": "m",
    "errors": [
      {
        "message": "m",
        "domain": "global",
        "reason": ")") +
           reason + R"(",
        "locationType": "header",
        "location": "Authorization"
      }
    ]
  }
}
)";
  };
  EXPECT_EQ(PrintStorageErrorBody(error), body("authError"));
  error.info = ErrorInfo{.reason = "CREDENTIALS_MISSING", .domain = "googleapis.com"};
  EXPECT_EQ(PrintStorageErrorBody(error), body("required"));
}

TEST(PrintErrorBodyTest, AnHttpStatusOfItsOwnIsTheCode) {
  EXPECT_NE(PrintErrorBody(InvalidArgument("", "too long"), 431).find("\"code\": 431"), std::string::npos);
}

TEST(PrintFirstErrorBodyTest, HasAListOfErrors) {
  EXPECT_EQ(PrintFirstErrorBody(NotFound("gone")), R"({
  "error": {
    "code": 404,
    "message": "gone",
    "status": "NOT_FOUND",
    "errors": [
      {
        "message": "gone",
        "domain": "global",
        "reason": "notFound"
      }
    ]
  }
}
)");
}

}  // namespace
}  // namespace trainyard::wire
