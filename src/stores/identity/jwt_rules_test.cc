#include "stores/identity/jwt.h"

#include <gtest/gtest.h>

#include <optional>

namespace trainyard::identity {
namespace {

constexpr std::int64_t kNow = 1'700'000'000;
const SysTime kClock{std::chrono::seconds(kNow)};
const std::vector<std::string> kOwn{"https://yard.example:8443", "https://*.u.example"};

Jwt Bearer() {
  Jwt jwt;
  jwt.issuer = "a@p.iam.gserviceaccount.com";
  jwt.subject = jwt.issuer;
  jwt.issued_at = kNow - 10;
  jwt.expires_at = kNow + 3'590;
  return jwt;
}

Jwt Assertion() {
  Jwt jwt = Bearer();
  jwt.subject.reset();
  jwt.audience = "https://oauth2.googleapis.com/token";
  return jwt;
}

struct AudienceRow {
  const char* name;
  std::optional<std::string> audience;
  bool assertion;
  bool bearer;
};
class Audience : public testing::TestWithParam<AudienceRow> {};

TEST_P(Audience, IsTaken) {
  Jwt jwt = Bearer();
  jwt.audience = GetParam().audience;
  EXPECT_EQ(CheckAssertionClaims(jwt, kOwn, kClock).has_value(), GetParam().assertion);
  EXPECT_EQ(CheckBearerClaims(jwt, kOwn, kClock).has_value(), GetParam().bearer);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Audience,
    testing::Values(AudienceRow{"absent", std::nullopt, false, true}, AudienceRow{"empty", "", false, false},
                    AudienceRow{"googles_endpoint", "https://oauth2.googleapis.com/token", true, false},
                    AudienceRow{"tensorflow", "https://www.googleapis.com/oauth2/v4/token", true, false},
                    AudienceRow{"oauth2client", "https://accounts.google.com/o/oauth2/token", true, false},
                    AudienceRow{"our_endpoint", "https://yard.example:8443/token", true, true},
                    AudienceRow{"our_v1_endpoint", "https://yard.example:8443/v1/token", true, true},
                    AudienceRow{"our_origin", "https://yard.example:8443", true, true},
                    AudienceRow{"request_url", "https://yard.example:8443/v1/projects/p/jobs", false, true},
                    AudienceRow{"other_port", "https://yard.example:8444/token", false, false},
                    AudienceRow{"port_prefix", "https://yard.example:84433/token", false, false},
                    AudienceRow{"user_info", "https://yard.example:8443@evil/token", false, false},
                    AudienceRow{"universe", "https://ml.u.example/", true, true},
                    AudienceRow{"universe_endpoint", "https://oauth2.u.example/token", true, true},
                    AudienceRow{"two_labels", "https://a.b.u.example/", false, false},
                    AudienceRow{"no_label", "https://.u.example/", false, false},
                    AudienceRow{"service", "https://ml.googleapis.com/", false, true},
                    AudienceRow{"service_bare", "https://storage.googleapis.com", false, true},
                    AudienceRow{"not_google", "https://evilgoogleapis.com/", false, false},
                    AudienceRow{"in_a_path", "https://evil.com/.googleapis.com/", false, false},
                    AudienceRow{"plain_http", "http://ml.googleapis.com/", false, false},
                    AudienceRow{"no_url", "ml.googleapis.com", false, false}),
    [](const auto& row) { return row.param.name; });

struct TimeRow {
  const char* name;
  std::optional<std::int64_t> issued;
  std::optional<std::int64_t> expires;
  std::optional<std::int64_t> not_before;
  bool ok;
};
class Times : public testing::TestWithParam<TimeRow> {};

TEST_P(Times, AreChecked) {
  for (Jwt jwt : {Bearer(), Assertion()}) {
    jwt.issued_at = GetParam().issued;
    jwt.expires_at = GetParam().expires;
    jwt.not_before = GetParam().not_before;
    const Status holds =
        jwt.audience ? CheckAssertionClaims(jwt, kOwn, kClock) : CheckBearerClaims(jwt, kOwn, kClock);
    EXPECT_EQ(holds.has_value(), GetParam().ok) << (holds ? "" : holds.error().message);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Times,
    testing::Values(TimeRow{"an_hour", kNow, kNow + 3'600, {}, true},
                    TimeRow{"longer", kNow, kNow + 3'601, {}, false},
                    TimeRow{"a_year", kNow, kNow + 31'536'000, {}, false},
                    TimeRow{"no_iat", {}, kNow + 60, {}, false}, TimeRow{"no_exp", kNow, {}, {}, false},
                    TimeRow{"backwards", kNow, kNow - 1, {}, false}, TimeRow{"empty", kNow, kNow, {}, false},
                    TimeRow{"just_over", kNow - 3'600, kNow - 299, {}, true},
                    TimeRow{"over", kNow - 3'600, kNow - 300, {}, false},
                    TimeRow{"from_a_fast_clock", kNow + 300, kNow + 3'900, {}, true},
                    TimeRow{"in_the_future", kNow + 301, kNow + 3'901, {}, false},
                    TimeRow{"not_yet", kNow, kNow + 3'600, kNow + 301, false},
                    TimeRow{"huge", std::int64_t{1} << 40, std::int64_t{1} << 40, {}, false},
                    TimeRow{"from_zero", 0, std::int64_t{1} << 40, {}, false}),
    [](const auto& row) { return row.param.name; });

TEST(JwtRules, TheSubjectIsTheAccountItself) {
  Jwt assertion = Assertion();
  assertion.subject = assertion.issuer;
  EXPECT_TRUE(CheckAssertionClaims(assertion, kOwn, kClock));
  assertion.subject = "ann@example.com";
  EXPECT_EQ(CheckAssertionClaims(assertion, kOwn, kClock).error().message,
            "sub must be iss: a service account cannot ask for another's token");
  Jwt bearer = Bearer();
  bearer.subject.reset();
  EXPECT_FALSE(CheckBearerClaims(bearer, kOwn, kClock));
  bearer.subject = "ann@example.com";
  EXPECT_FALSE(CheckBearerClaims(bearer, kOwn, kClock));
}

TEST(JwtRules, ARequestForAnIdentityTokenOpensNothing) {
  Jwt bearer = Bearer();
  bearer.target_audience = "https://example.com";
  EXPECT_FALSE(CheckBearerClaims(bearer, kOwn, kClock));
}

TEST(JwtRules, AcceptedUntilAllowsForAWrongClock) {
  EXPECT_EQ(AcceptedUntil(Bearer()), kClock + std::chrono::seconds(3'590 + 300));
}

}  // namespace
}  // namespace trainyard::identity
