#include "api/route.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "rules/iam/refusal.h"
#include "rules/iam/roles.h"

namespace trainyard::iam {
namespace {

TEST(MethodTable, HasEachRouteOnceAndIsSearched) {
  const auto rows = api::Methods().rules();
  EXPECT_EQ(std::ranges::adjacent_find(rows, std::ranges::greater_equal{}, &MethodRule::route), rows.end());
  for (const MethodRule& rule : rows) EXPECT_EQ(api::Methods().Find(rule.route), &rule) << rule.route;
  EXPECT_EQ(api::Methods().Find("GET /v1/projects/{project}/jobs/{other}"), nullptr);
  EXPECT_EQ(api::Methods().Find("HEAD /healthz"), nullptr);
  EXPECT_EQ(api::Methods().Find(""), nullptr);
}

TEST(MethodTable, EachRowSaysAllThatItsAccessNeeds) {
  for (const MethodRule& rule : api::Methods().rules()) {
    const bool asks = rule.access == Access::kPermission || rule.access == Access::kInHandler;
    EXPECT_EQ(!rule.permission.empty(), asks) << rule.route;
    if (!asks) continue;
    EXPECT_TRUE(std::ranges::binary_search(Permissions(), rule.permission))
        << rule.route << " asks for " << rule.permission << ", which no role has";
    EXPECT_FALSE(rule.method_name.empty()) << rule.route;
    EXPECT_NE(rule.audit, AuditKind::kNone) << rule.route;
  }
}

TEST(MethodTable, ScopesFindTheirParametersInTheRoute) {
  for (const MethodRule& rule : api::Methods().rules()) {
    if (rule.access != Access::kPermission) continue;
    const auto has = [&](std::string_view parameter) {
      return rule.route.find(parameter) != std::string_view::npos;
    };
    switch (rule.scope) {
      case Scope::kInstallation:
        EXPECT_FALSE(has("{project}") || has("{bucket}") || has("{job}")) << rule.route;
        break;
      case Scope::kQueryProject: EXPECT_FALSE(has("{")) << rule.route; break;
      case Scope::kProject:
        EXPECT_TRUE(has("{project}") && !has("{job}") && !has("{account}")) << rule.route;
        break;
      case Scope::kJob: EXPECT_TRUE(has("{project}") && has("{job}")) << rule.route; break;
      case Scope::kBucket: EXPECT_TRUE(has("{bucket}")) << rule.route; break;
      case Scope::kServiceAccount: EXPECT_TRUE(has("{project}") && has("{account}")) << rule.route; break;
    }
  }
}

TEST(MethodTable, NothingThatChangesIsOpen) {
  const std::set<std::string_view> open{"POST /token", "POST /v1/token", "POST /v1/introspect",
                                        "POST /trainyard/v1/session", "DELETE /trainyard/v1/session"};
  for (const MethodRule& rule : api::Methods().rules()) {
    if (rule.route.starts_with("GET ") || rule.access != Access::kPublic) continue;
    EXPECT_TRUE(open.contains(rule.route)) << rule.route;
  }
}

TEST(MethodTable, WhatChangesRightsIsAudited) {
  for (const MethodRule& rule : api::Methods().rules()) {
    const bool gives =
        rule.permission.ends_with(".setIamPolicy") || rule.route.ends_with(":generateAccessToken") ||
        rule.permission.starts_with("iam.serviceAccountKeys.c") ||
        rule.permission == "trainyard.tokens.create" || rule.permission == "trainyard.jobs.shell";
    if (gives) EXPECT_EQ(rule.audit, AuditKind::kAdminActivity) << rule.route;
  }
}

}  // namespace
}  // namespace trainyard::iam

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
