#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/iam/testing/identity_api_fixture.h"
#include "rules/iam/principal.h"

namespace trainyard::api {
namespace {

using http::Method;
using iam::Resource;
using testing::HasSubstr;

constexpr char kAnn[] = "user:ann@example.com";
const std::string kAdmin(iam::kAdministrator);
const std::string kTokens = "/trainyard/v1/tokens";

class AccessTokenHandlers : public IdentityApiTest {};

TEST_F(AccessTokenHandlers, BindRolesAndMakeAToken) {
  const Answer made = Post(kTokens, R"({"principal": "user:ann@example.com", "roles": ["roles/ml.developer"],
      "projects": ["p", "q"], "lifetime": "28800s", "description": "laptop"})",
                           kAdmin);
  ASSERT_EQ(made.status, 200) << made.text;
  EXPECT_EQ(identities_->CheckToken(made.Text("/text"))->principal, kAnn);
  EXPECT_EQ(made.Text("/token/principal"), kAnn);
  EXPECT_EQ(made.Text("/token/issuer"), kAdmin);
  EXPECT_EQ(made.Text("/token/expireTime"), "2023-11-15T06:13:20Z");
  EXPECT_TRUE(identities_->Grants(kAnn, "ml.jobs.create", Resource::Project("q")));

  const Answer who = Get("/trainyard/v1/whoami", kAnn, made.Text("/text"));
  EXPECT_EQ(who.Text("/principal"), kAnn);
  EXPECT_EQ(who.Text("/expireTime"), "2023-11-15T06:13:20Z");
  EXPECT_EQ(who.Text("/roles/0/project"), "p");
  EXPECT_EQ(who.Text("/roles/1/roles/0"), "roles/ml.developer");
  EXPECT_EQ(Get("/trainyard/v1/whoami", kAdmin).Text("/roles/0/roles/0"), "roles/trainyard.admin");
  EXPECT_EQ(Get("/trainyard/v1/whoami").text, "{}\n") << "authentication is off";
}

TEST_F(AccessTokenHandlers, WhatReadsTheServersFiguresHasItsRoleOnTheInstallation) {
  const Answer made =
      Post(kTokens, R"({"principal": "user:ann@example.com", "roles": ["roles/monitoring.viewer"]})", kAdmin);
  ASSERT_EQ(made.status, 200) << made.text;
  EXPECT_TRUE(identities_->Grants(kAnn, "trainyard.server.getMetrics", Resource::Installation()));
  EXPECT_FALSE(identities_->Grants(kAnn, "ml.jobs.list", Resource::Project("p")));
}

struct Row {
  const char* name;
  const char* body;
  const char* reason;
};
class Refused : public IdentityApiTest, public testing::WithParamInterface<Row> {};

TEST_P(Refused, NamesTheField) {
  const Answer answer = Post(kTokens, GetParam().body, kAdmin);
  EXPECT_EQ(answer.status, 400) << answer.text;
  EXPECT_THAT(answer.text, HasSubstr(GetParam().reason));
  EXPECT_TRUE(identities_->Tokens("").empty());
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Refused,
    testing::Values(
        Row{"no_principal", "{}", "is not a principal"},
        Row{"no_such_role", R"({"principal": "user:a@x.org", "roles": ["roles/no"], "projects": ["p"]})",
            "does not exist"},
        Row{"projects_role_without_project",
            R"({"principal": "user:a@x.org", "roles": ["roles/ml.developer"]})", "Name the projects"},
        Row{"admin_on_a_project",
            R"({"principal": "user:a@x.org", "roles": ["roles/trainyard.admin"], "projects": ["p"]})",
            "only be bound on the installation"},
        Row{"projects_without_role", R"({"principal": "user:a@x.org", "projects": ["p"]})",
            "names projects but no role"},
        Row{"life_in_hours", R"({"principal": "user:a@x.org", "lifetime": "8h"})", "whole seconds"},
        Row{"no_life", R"({"principal": "user:a@x.org", "lifetime": "0s"})", "from 1 s"}),
    [](const auto& row) { return row.param.name; });

TEST_F(AccessTokenHandlers, OnlyAnAdministratorMakesThem) {
  Bind(Resource::Project("p"), "roles/owner", kAnn);
  const Answer answer = Post(kTokens, R"({"principal": "user:admin@trainyard.local"})", kAnn);
  EXPECT_EQ(answer.status, 403) << answer.text;
  EXPECT_TRUE(identities_->Tokens("").empty());
}

TEST_F(AccessTokenHandlers, EverybodySeesAndRevokesTheirOwn) {
  const auto make = [&](const std::string& principal) {
    return Post(kTokens, R"({"principal": ")" + principal + "\"}", kAdmin).Text("/token/id");
  };
  const std::string ann = make(kAnn);
  const std::string bob = make("user:bob@example.com");
  EXPECT_EQ(Get(kTokens, kAnn).At("/tokens")->as_array().size(), 1U);
  EXPECT_EQ(Get(kTokens, kAnn).Text("/tokens/0/id"), ann);
  EXPECT_EQ(Get(kTokens, kAdmin).At("/tokens")->as_array().size(), 2U);
  EXPECT_EQ(Get(kTokens + "?principal=user:bob@example.com", kAnn).status, 403);
  EXPECT_EQ(Get(kTokens + "?principal=user:bob@example.com", kAdmin).Text("/tokens/0/id"), bob);
  const Answer others = Call(Method::kDelete, kTokens + "/" + bob, "", kAnn);
  const Answer none = Call(Method::kDelete, kTokens + "/0123456789", "", kAnn);
  EXPECT_EQ(others.status, 404);
  EXPECT_EQ(none.status, 404);
  EXPECT_EQ(Call(Method::kDelete, kTokens + "/" + ann, "", kAnn).status, 200);
  EXPECT_EQ(Call(Method::kDelete, kTokens + "/" + bob, "", kAdmin).status, 200);
  EXPECT_TRUE(identities_->Tokens("").empty());
}

}  // namespace
}  // namespace trainyard::api
