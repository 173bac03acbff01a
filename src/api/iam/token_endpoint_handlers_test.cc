#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/iam/testing/identity_api_fixture.h"
#include "base/text/percent.h"
#include "net/access/failed_logins.h"
#include "stores/identity/jwt.h"

namespace trainyard::api {
namespace {

using testing::HasSubstr;

constexpr char kJwtBearer[] = "urn:ietf:params:oauth:grant-type:jwt-bearer";
constexpr char kExchange[] = "urn:ietf:params:oauth:grant-type:token-exchange";

class TokenEndpointTest : public IdentityApiTest {
 protected:
  TokenEndpointTest() : email_(Ask(identities_->CreateServiceAccount("p", "trainer", ""))->email()) {
    const auto made = Ask(identities_->CreateKey(email_));
    const std::string& name = made->key.name();
    key_id_ = name.substr(name.rfind('/') + 1);
    key_ = *identity::RsaPrivateKey::FromPem(made->private_key_pem);
  }
  [[nodiscard]] std::string Assertion(const std::string& more) const {
    return identity::SignJwt(*key_, key_id_,
                             R"({"iss":")" + email_ + R"(","iat":1700000000,"exp":1700003600)" + more + "}");
  }
  Answer Grant(const std::string& type, const std::string& rest) {
    return Post("/token", "grant_type=" + text::PercentEncode(type) + rest);
  }
  Answer GrantJwt(const std::string& more) { return Grant(kJwtBearer, "&assertion=" + Assertion(more)); }

  std::string email_;
  std::string key_id_;
  std::optional<identity::RsaPrivateKey> key_;
};

TEST_F(TokenEndpointTest, ASignedAssertionGetsAToken) {
  for (const char* audience : {"https://oauth2.googleapis.com/token", "https://yard:8443/token",
                               "https://www.googleapis.com/oauth2/v4/token"}) {
    const Answer answer = GrantJwt(R"(,"scope":"","aud":")" + std::string(audience) + "\"");
    ASSERT_EQ(answer.status, 200) << answer.text;
    EXPECT_EQ(answer.At("/expires_in")->as_int64(), 3599);
    EXPECT_EQ(answer.Text("/token_type"), "Bearer");
    const auto login = identities_->CheckToken(answer.Text("/access_token"));
    EXPECT_EQ(login->principal, "serviceAccount:" + email_);
    EXPECT_EQ(login->expires, clock_.now + std::chrono::hours(1));
    EXPECT_THAT(login->credential, HasSubstr("by key " + key_id_));
  }
}

TEST_F(TokenEndpointTest, OrAnIdentityToken) {
  const Answer answer =
      GrantJwt(R"(,"target_audience":"https://x","aud":"https://oauth2.googleapis.com/token")");
  ASSERT_EQ(answer.status, 200) << answer.text;
  EXPECT_EQ(identity::ParseJwt(answer.Text("/id_token"))->audience, "https://x");
  EXPECT_EQ(answer.At("/access_token"), nullptr);
}

TEST_F(TokenEndpointTest, RefusalsAreOAuths) {
  const auto error = [](const Answer& answer) {
    EXPECT_EQ(answer.status, 400);
    return answer.Text("/error") + ": " + answer.Text("/error_description");
  };
  EXPECT_THAT(error(GrantJwt(R"(,"aud":"https://other/token")")),
              HasSubstr("invalid_grant: The JWT is refused: aud"));
  EXPECT_THAT(error(Grant(kJwtBearer, "&assertion=a.b.c")), HasSubstr("invalid_grant: The JWT is refused"));
  EXPECT_THAT(error(Grant(kJwtBearer, "")), HasSubstr("invalid_request: assertion is missing"));
  EXPECT_THAT(error(Post("/token", "")), HasSubstr("invalid_request: grant_type is missing"));
  EXPECT_THAT(error(Grant("password", "")), HasSubstr("unsupported_grant_type"));
  EXPECT_THAT(error(Grant("refresh_token", "&refresh_token=x")),
              HasSubstr("invalid_grant: The credential is neither a token of this server"));
  EXPECT_THAT(error(Grant("refresh_token", "")), HasSubstr("invalid_request: refresh_token is missing"));
  EXPECT_TRUE(Ask(identities_->SetServiceAccountDisabled(email_, true)));
  EXPECT_THAT(error(GrantJwt(R"(,"aud":"https://oauth2.googleapis.com/token")")), HasSubstr("is disabled"));
}

TEST_F(TokenEndpointTest, ATokenIsExchangedForAShorterOne) {
  const auto made = Ask(identities_->MakeToken({.principal = "user:ann@example.com",
                                                .life = std::chrono::minutes(10),
                                                .description = "",
                                                .issuer = ""}));
  const std::string subject =
      "&subject_token_type=" + text::PercentEncode("urn:ietf:params:oauth:token-type:jwt") +
      "&subject_token=";
  const Answer answer = Grant(kExchange, subject + made->text);
  ASSERT_EQ(answer.status, 200) << answer.text;
  EXPECT_EQ(answer.At("/expires_in")->as_int64(), 599) << "no longer than what it was exchanged for";
  EXPECT_EQ(answer.Text("/issued_token_type"), "urn:ietf:params:oauth:token-type:access_token");
  EXPECT_EQ(identities_->CheckToken(answer.Text("/access_token"))->principal, "user:ann@example.com");
  EXPECT_EQ(Grant(kExchange, subject + "ty_wrong").Text("/error"), "invalid_grant");
  ASSERT_TRUE(Ask(identities_->RevokeToken(made->token.id())));
  EXPECT_FALSE(identities_->CheckToken(answer.Text("/access_token"))) << "it goes with what it came from";
}

TEST_F(TokenEndpointTest, ATokenIsARefreshToken) {
  const auto made = Ask(identities_->MakeToken(
      {.principal = "user:ann@example.com", .life = {}, .description = "", .issuer = ""}));
  const Answer answer =
      Grant("refresh_token", "&client_id=gsutil&client_secret=s&refresh_token=" + made->text);
  ASSERT_EQ(answer.status, 200) << answer.text;
  EXPECT_EQ(answer.At("/expires_in")->as_int64(), 3'599);
  EXPECT_EQ(answer.At("/issued_token_type"), nullptr);
  EXPECT_EQ(identities_->CheckToken(answer.Text("/access_token"))->principal, "user:ann@example.com");
  ASSERT_TRUE(Ask(identities_->RevokeToken(made->token.id())));
  EXPECT_FALSE(identities_->CheckToken(answer.Text("/access_token")));
}

/// Half a second for the first delayed one: others are answered meanwhile.
TEST_F(TokenEndpointTest, WrongCredentialsAreSlowedDownAndNobodyElse) {
  const std::string good =
      Ask(identities_->MakeToken(
              {.principal = "user:ann@example.com", .life = {}, .description = "", .issuer = ""}))
          ->text;
  for (int i = 0; i < access::FailedLogins::kFree; ++i) Post("/v1/introspect", "token=x");
  for (const std::string bad : {"token=x", "grant_type=refresh_token&refresh_token=x"}) {
    TextBody body(bad);
    http::Request request;
    request.method = http::Method::kPost;
    request.path = bad.starts_with("token") ? "/v1/introspect" : "/token";
    request.body = &body;
    bool is_answered = false;
    boost::asio::co_spawn(
        loop_, (**router_.Find(request))(request),
        [&](const std::exception_ptr&, const Result<http::Response>&) { is_answered = true; });
    loop_.restart();
    loop_.poll();
    EXPECT_FALSE(is_answered) << bad;
    EXPECT_EQ(Post("/v1/introspect", "token=" + good).At("/active")->as_bool(), true);
    loop_.restart();
    loop_.run();
    EXPECT_TRUE(is_answered);
  }
}

TEST_F(TokenEndpointTest, ATokenTellsWhoseItIs) {
  const auto made = Ask(identities_->MakeToken(
      {.principal = "user:ann@example.com", .life = {}, .description = "", .issuer = ""}));
  const Answer active = Post("/v1/introspect", "token=" + made->text);
  EXPECT_EQ(active.json, boost::json::parse(R"({"active": true, "username": "ann@example.com"})"));
  EXPECT_EQ(Post("/v1/introspect", "token=x").json, boost::json::parse(R"({"active": false})"));
  EXPECT_EQ(Post("/v1/introspect", "").status, 400);
}

}  // namespace
}  // namespace trainyard::api
