#include "api/iam/token_handlers.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text/base64.h"
#include "base/text/percent.h"

namespace trainyard::api::oauth_grant_test {
namespace {

const SysTime kNow = std::chrono::sys_seconds(std::chrono::seconds(1'000'000));

std::string Part(std::string_view json) {
  std::string text = text::Base64(json);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  text.erase(std::ranges::find(text, '='), text.end());
  return text;
}

std::string Jwt(std::string_view claims, std::string_view header = R"({"alg":"RS256","typ":"JWT"})") {
  return Part(header) + "." + Part(claims) + ".c2lnbmF0dXJl";
}

std::string WithAssertion(const std::string& assertion) {
  return "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=" +
         text::PercentEncode(assertion);
}

constexpr std::string_view kGood =
    R"({"iss":"a@b","aud":"https://oauth2.googleapis.com/token","iat":999990,"exp":1003590,"scope":""})";

TEST(OauthGrant, TakesWhatClientsSend) {
  EXPECT_EQ(ReadGrant(WithAssertion(Jwt(kGood)), kNow).value(), GrantType::kJwtBearer);
  EXPECT_EQ(ReadGrant("grant_type=refresh_token&refresh_token=r&client_id=c", kNow).value(),
            GrantType::kRefreshToken);
  EXPECT_EQ(ReadGrant("grant_type=urn:ietf:params:oauth:grant-type:token-exchange&subject_token=t&"
                      "subject_token_type=urn:ietf:params:oauth:token-type:jwt",
                      kNow)
                .value(),
            GrantType::kTokenExchange);
}

struct Row {
  const char* name;
  std::string form;
  const char* error;
};

class OauthGrantRefuses : public testing::TestWithParam<Row> {};

TEST_P(OauthGrantRefuses, WithTheErrorOfOauth) {
  const auto grant = ReadGrant(GetParam().form, kNow);
  ASSERT_FALSE(grant);
  EXPECT_EQ(grant.error().error, GetParam().error);
  EXPECT_FALSE(grant.error().description.empty());
}

std::string Claims(std::string_view changed) { return WithAssertion(Jwt(changed)); }

INSTANTIATE_TEST_SUITE_P(
    Forms, OauthGrantRefuses,
    testing::Values(
        Row{"nothing", "", "invalid_request"}, Row{"no_form", "%zz", "invalid_request"},
        Row{"unknown_grant", "grant_type=password&password=x", "unsupported_grant_type"},
        Row{"no_refresh_token", "grant_type=refresh_token", "invalid_request"},
        Row{"no_assertion", WithAssertion(""), "invalid_request"},
        Row{"no_jwt", WithAssertion("anything"), "invalid_grant"},
        Row{"two_parts", WithAssertion("e30.e30"), "invalid_grant"},
        Row{"no_signature", WithAssertion(Part(R"({"alg":"RS256"})") + "." + Part(kGood) + "."),
            "invalid_grant"},
        Row{"four_parts", WithAssertion(Jwt(kGood) + ".x"), "invalid_grant"},
        Row{"no_json", WithAssertion("YQ.YQ.YQ"), "invalid_grant"},
        Row{"unsigned", WithAssertion(Jwt(kGood, R"({"alg":"none"})")), "invalid_grant"},
        Row{"no_iss", Claims(R"({"aud":"u","iat":999990,"exp":1003590,"scope":""})"), "invalid_grant"},
        Row{"no_aud", Claims(R"({"iss":"a","iat":999990,"exp":1003590,"scope":""})"), "invalid_grant"},
        Row{"no_scope", Claims(R"({"iss":"a","aud":"u","iat":999990,"exp":1003590})"), "invalid_grant"},
        Row{"identity", Claims(R"({"iss":"a","aud":"u","iat":999990,"exp":1003590,"target_audience":"x"})"),
            "invalid_grant"},
        Row{"expired", Claims(R"({"iss":"a","aud":"u","iat":990000,"exp":993600,"scope":""})"),
            "invalid_grant"},
        Row{"to_come", Claims(R"({"iss":"a","aud":"u","iat":1009990,"exp":1013590,"scope":""})"),
            "invalid_grant"},
        Row{"a_day", Claims(R"({"iss":"a","aud":"u","iat":999990,"exp":1086390,"scope":""})"),
            "invalid_grant"},
        Row{"huge_times",
            Claims(
                R"({"iss":"a","aud":"u","iat":-9223372036854775808,"exp":9223372036854775807,"scope":""})"),
            "invalid_grant"},
        Row{"texts_for_times", Claims(R"({"iss":"a","aud":"u","iat":"999990","exp":"1003590","scope":""})"),
            "invalid_grant"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::api::oauth_grant_test
