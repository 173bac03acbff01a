#include "api/refusal_answer.h"

#include <gtest/gtest.h>

#include <string>

#include "rules/iam/refusal.h"

namespace trainyard::api {
namespace {

std::string BodyOf(const http::Response& response) { return std::get<std::string>(response.body); }

TEST(RefusalAnswerTest, IsAStatusForMostApis) {
  const http::Response answer =
      RefusalAnswer("GET /v1/projects/{project}/jobs", iam::NotLoggedIn("ml.jobs.list"));
  EXPECT_EQ(answer.status, 401);
  EXPECT_NE(BodyOf(answer).find(R"("status": "UNAUTHENTICATED")"), std::string::npos) << BodyOf(answer);
  EXPECT_NE(BodyOf(answer).find(R"("reason": "CREDENTIALS_MISSING")"), std::string::npos);
}

TEST(RefusalAnswerTest, IsStoragesForItsJsonApi) {
  for (const char* route : {"GET /storage/v1/b/{bucket}", "POST /upload/storage/v1/b/{bucket}/o"}) {
    const http::Response answer = RefusalAnswer(route, iam::NotLoggedIn("storage.buckets.get"));
    EXPECT_EQ(answer.status, 401);
    EXPECT_NE(BodyOf(answer).find(R"("message": "Anonymous caller does not have storage.buckets.get access)"),
              std::string::npos)
        << BodyOf(answer);
    EXPECT_NE(BodyOf(answer).find(R"("reason": "required")"), std::string::npos);
  }
}

TEST(RefusalAnswerTest, IsADocumentForTheXmlApi) {
  const http::Response answer =
      RefusalAnswer("GET /{bucket}/{object=**}", iam::BadToken("The token's <end>."));
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(answer.headers.Get("Content-Type"), "application/xml; charset=UTF-8");
  EXPECT_TRUE(
      BodyOf(answer).starts_with("<?xml version='1.0' encoding='UTF-8'?><Error>"
                                 "<Code>AuthenticationRequired</Code><Message>Authentication required."
                                 "</Message><Details>Request had invalid authentication credentials."))
      << BodyOf(answer);
  EXPECT_TRUE(BodyOf(answer).ends_with("The token's &lt;end&gt;.</Details></Error>")) << BodyOf(answer);
  const Error denied{Code::kPermissionDenied, "Ann may not.", ""};
  EXPECT_EQ(BodyOf(RefusalAnswer("GET /{bucket}/{object=**}", denied)),
            "<?xml version='1.0' encoding='UTF-8'?><Error><Code>AccessDenied</Code><Message>Access denied."
            "</Message><Details>Ann may not.</Details></Error>");
}

}  // namespace
}  // namespace trainyard::api
