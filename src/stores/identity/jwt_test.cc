#include "stores/identity/jwt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stores/identity/testing/test_keys.h"

namespace trainyard::identity {
namespace {

using testing::HasSubstr;

constexpr char kHeader[] = R"({"alg":"RS256","typ":"JWT","kid":"k1"})";
constexpr char kPayload[] =
    R"({"iss":"a@p","sub":"a@p","aud":"https://x/","iat":1700000000,"exp":1700003600,"jti":"1","scope":""})";

TEST(Jwt, IsReadAndVerified) {
  const Result<Jwt> jwt = ParseJwt(Signed(TestKey(), kHeader, kPayload));
  ASSERT_TRUE(jwt) << jwt.error().message;
  EXPECT_EQ(jwt->key_id, "k1");
  EXPECT_EQ(jwt->issuer, "a@p");
  EXPECT_EQ(jwt->subject, "a@p");
  EXPECT_EQ(jwt->audience, "https://x/");
  EXPECT_EQ(jwt->issued_at, 1'700'000'000);
  EXPECT_EQ(jwt->expires_at, 1'700'003'600);
  EXPECT_EQ(jwt->id, "1");
  EXPECT_TRUE(jwt->IsSignedBy(TestKey().Public()));
  EXPECT_FALSE(jwt->IsSignedBy(RsaPrivateKey::Generate()->Public()));
}

TEST(Jwt, WhatSignJwtWritesIsRead) {
  const Result<Jwt> jwt = ParseJwt(SignJwt(TestKey(), "k", R"({"iss":"me"})"));
  ASSERT_TRUE(jwt);
  EXPECT_EQ(jwt->key_id, "k");
  EXPECT_TRUE(jwt->IsSignedBy(TestKey().Public()));
}

TEST(Jwt, AnyChangedBitBreaksTheSignature) {
  const std::string text = Signed(TestKey(), kHeader, kPayload);
  for (std::size_t i = 0; i < text.size(); i += 7) {
    std::string forged = text;
    forged[i] = forged[i] == 'A' ? 'B' : 'A';
    const Result<Jwt> jwt = ParseJwt(forged);
    EXPECT_FALSE(jwt && jwt->IsSignedBy(TestKey().Public())) << i;
  }
}

struct Row {
  const char* name;
  std::string header;
  std::string payload;
  const char* reason;
};
class Hostile : public testing::TestWithParam<Row> {};

TEST_P(Hostile, IsRefused) {
  const Result<Jwt> jwt = ParseJwt(Signed(TestKey(), GetParam().header, GetParam().payload));
  ASSERT_FALSE(jwt);
  EXPECT_EQ(jwt.error().code, Code::kInvalidArgument);
  EXPECT_THAT(jwt.error().message, HasSubstr(GetParam().reason));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Hostile,
    testing::Values(
        Row{"none", R"({"alg":"none"})", kPayload, "alg must be RS256"},
        Row{"none_in_capitals", R"({"alg":"NONE"})", kPayload, "alg must be RS256"},
        Row{"hmac_of_the_public_key", R"({"alg":"HS256"})", kPayload, "alg must be RS256"},
        Row{"elliptic", R"({"alg":"ES256"})", kPayload, "alg must be RS256"},
        Row{"longer_hash", R"({"alg":"RS512"})", kPayload, "alg must be RS256"},
        Row{"no_algorithm", R"({"typ":"JWT"})", kPayload, "alg must be RS256"},
        Row{"algorithm_is_a_number", R"({"alg":256})", kPayload, "alg must be a text"},
        Row{"two_algorithms", R"({"alg":"none","alg":"RS256"})", kPayload, "header has a member twice"},
        Row{"critical", R"({"alg":"RS256","crit":["b64"],"b64":false})", kPayload, "critical extensions"},
        Row{"other_type", R"({"alg":"RS256","typ":"at+jwt"})", kPayload, "typ must be JWT"},
        Row{"kid_is_a_list", R"({"alg":"RS256","kid":["a"]})", kPayload, "kid must be a text"},
        Row{"header_is_a_list", R"(["RS256"])", kPayload, "header is not a JSON object"},
        Row{"header_is_no_json", "RS256", kPayload, "header is not a JSON object"},
        Row{"no_issuer", kHeader, R"({"sub":"a"})", "iss is missing"},
        Row{"empty_issuer", kHeader, R"({"iss":""})", "iss is missing"},
        Row{"issuer_is_an_object", kHeader, R"({"iss":{"a":1}})", "iss must be a text"},
        Row{"null_issuer", kHeader, R"({"iss":null})", "iss must be a text"},
        Row{"list_of_audiences", kHeader, R"({"iss":"a","aud":["x"]})", "aud must be a text"},
        Row{"time_is_text", kHeader, R"({"iss":"a","exp":"1700000000"})", "exp must be whole seconds"},
        Row{"time_is_negative", kHeader, R"({"iss":"a","iat":-1})", "iat must be whole seconds"},
        Row{"time_is_a_fraction", kHeader, R"({"iss":"a","iat":1.5})", "iat must be whole seconds"},
        Row{"time_is_huge", kHeader, R"({"iss":"a","exp":99999999999999999999})", "exp must be whole"},
        Row{"time_has_an_exponent", kHeader, R"({"iss":"a","exp":1e300})", "exp must be whole seconds"},
        Row{"two_issuers", kHeader, R"({"iss":"a","iss":"b"})", "payload has a member twice"},
        Row{"many_values", kHeader,
            R"({"iss":"a","x":[)" +
                [] {
                  std::string s;
                  for (int i = 0; i < 200; ++i) s += "1,";
                  return s;
                }() +
                "1]}",
            "payload is not a JSON object of at most"},
        Row{"deep", kHeader, R"({"iss":"a","x":)" + std::string(90, '[') + std::string(90, ']') + "}",
            "payload is not a JSON object"}),
    [](const auto& row) { return row.param.name; });

TEST(Jwt, OuterFormIsStrict) {
  const std::string good = Signed(TestKey(), kHeader, kPayload);
  const std::string unsigned_part = good.substr(0, good.rfind('.'));
  for (const std::string& bad :
       {std::string(), std::string("a.b"), std::string(".."), unsigned_part, unsigned_part + ".", good + ".x",
        good + "=", "=" + good, good + " ", unsigned_part + "." + std::string(9'000, 'A'),
        Url64(kHeader) + "=." + Url64(kPayload) + ".AAAA"}) {
    EXPECT_FALSE(ParseJwt(bad)) << bad.substr(0, 60);
  }
}

TEST(Jwt, EachHasOneSpelling) {
  // 256 bytes end in a letter of which four bits are unused.
  std::string text = Signed(TestKey(), kHeader, kPayload);
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  text.back() = kLetters[kLetters.find(text.back()) ^ 1];
  EXPECT_FALSE(ParseJwt(text));
}

TEST(RsaKey, SurvivesItsTextForms) {
  const RsaPrivateKey& key = TestKey();
  EXPECT_TRUE(key.Pem().starts_with("-----BEGIN PRIVATE KEY-----\n"));
  const Result<RsaPrivateKey> again = RsaPrivateKey::FromPem(key.Pem());
  ASSERT_TRUE(again);
  const Result<RsaPublicKey> known = RsaPublicKey::FromDer(key.Public().der());
  ASSERT_TRUE(known);
  EXPECT_TRUE(known->Verifies("text", again->Sign("text")));
  EXPECT_FALSE(known->Verifies("Text", again->Sign("text")));
  EXPECT_FALSE(known->Verifies("text", ""));
}

TEST(RsaKey, OthersAreRefused) {
  EXPECT_FALSE(RsaPublicKey::FromDer(""));
  EXPECT_FALSE(RsaPublicKey::FromDer("no key"));
  EXPECT_FALSE(RsaPublicKey::FromDer(TestKey().Public().der() + "x"));
  EXPECT_FALSE(RsaPrivateKey::FromPem("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"));
}

}  // namespace
}  // namespace trainyard::identity
