#include "stores/identity/credential_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/iam/principal.h"
#include "stores/identity/testing/identities_fixture.h"
#include "stores/identity/testing/test_keys.h"

namespace trainyard::identity {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::HasSubstr;

class Credentials : public IdentitiesTest {
 protected:
  struct Signer {
    std::string email;
    std::string key_id;
    RsaPrivateKey key;
  };
  Signer MakeSigner(const std::string& id = "trainer") {
    std::string email = Account(id);
    auto made = Ask(identities_->CreateKey(email));
    EXPECT_TRUE(made);
    const std::string& name = made->key.name();
    return {.email = email,
            .key_id = name.substr(name.rfind('/') + 1),
            .key = *RsaPrivateKey::FromPem(made->private_key_pem)};
  }
  [[nodiscard]] std::string Claims(const std::string& email, const std::string& more) const {
    const std::string now = std::to_string(clock_.Seconds());
    const std::string end = std::to_string(clock_.Seconds() + 3'600);
    return R"({"iss":")" + email + R"(","sub":")" + email + R"(","iat":)" + now + R"(,"exp":)" + end + more +
           "}";
  }
  [[nodiscard]] std::string SelfSigned(const Signer& signer,
                                       const std::string& more = R"(,"scope":"x")") const {
    return SignJwt(signer.key, signer.key_id, Claims(signer.email, more));
  }
  Result<Assertion> Prove(const std::string& assertion) {
    return Ask(identities_->CheckAssertion(assertion, own_));
  }
  [[nodiscard]] std::string AssertionOf(const Signer& signer, const std::string& more = "") const {
    return SelfSigned(signer, R"(,"scope":"","aud":"https://oauth2.googleapis.com/token")" + more);
  }
};

TEST_F(Credentials, ATokenProvesItsPrincipal) {
  const auto made = Ask(identities_->MakeToken({.principal = "user:Ann@Example.com",
                                                .life = hours(8),
                                                .description = "laptop",
                                                .issuer = "user:root@x"}));
  ASSERT_TRUE(made);
  const Result<Login> login = Check(made->text);
  ASSERT_TRUE(login) << login.error().message;
  EXPECT_EQ(*login, (Login{.principal = "user:ann@example.com",
                           .credential = "token " + made->token.id(),
                           .expires = clock_.now + hours(8),
                           .token_id = made->token.id()}));
  EXPECT_EQ(made->token.id().size(), 10U);
}

TEST_F(Credentials, ForeignOnesAreRefused) {
  Token("user:ann@example.com");
  EXPECT_THAT(Refusal(PrintToken(TokenSecret{})), HasSubstr("The token is unknown"));
  EXPECT_THAT(Refusal("ty_abc"), HasSubstr("mistyped or cut"));
  EXPECT_THAT(Refusal("ya29.a0AfH6"), HasSubstr("neither a token of this server"));
  EXPECT_THAT(Refusal(""), HasSubstr("neither a token of this server"));
  EXPECT_THAT(Refusal("ty_" + std::string(1 << 20, 'a')), HasSubstr("too long"));
  EXPECT_THAT(Refusal("a.b.c"), HasSubstr("The JWT is refused"));
}

TEST_F(Credentials, ATokenExpires) {
  const std::string token = Token("user:ann@example.com", seconds(60));
  clock_.now += seconds(59);
  EXPECT_TRUE(Check(token));
  clock_.now += seconds(1);
  EXPECT_THAT(Refusal(token), HasSubstr("expired at 2023-11-14T22:14:20Z"));
  EXPECT_EQ(Check(token).error().info->reason, "ACCESS_TOKEN_EXPIRED");
  clock_.now += hours(24 * 7 + 1);
  Restart();
  EXPECT_THAT(Refusal(token), HasSubstr("The token is unknown"));
  EXPECT_TRUE(identities_->Tokens("").empty());
}

TEST_F(Credentials, ARevokedTokenIsNone) {
  const std::string token = Token("user:ann@example.com");
  const std::string id = identities_->Tokens("user:ann@example.com").at(0).id();
  EXPECT_EQ(Ask(identities_->RevokeToken("0000000000")).error().code, Code::kNotFound);
  ASSERT_TRUE(Ask(identities_->RevokeToken(id)));
  EXPECT_THAT(Refusal(token), HasSubstr("was revoked"));
  Restart();
  EXPECT_FALSE(Check(token));
}

TEST_F(Credentials, TheLastUseIsKeptToTheHour) {
  const std::string token = Token("user:ann@example.com");
  EXPECT_FALSE(identities_->Tokens("")[0].has_last_use_time());
  ASSERT_TRUE(Check(token));
  Restart();
  const std::int64_t used = identities_->Tokens("").at(0).last_use_time().seconds();
  EXPECT_EQ(used % 3'600, 0);
  EXPECT_LE(clock_.Seconds() - used, 3'600);
}

TEST_F(Credentials, ADisabledAccountsTokenIsRefused) {
  const std::string email = Account();
  const std::string token = Token("serviceAccount:" + email);
  ASSERT_TRUE(Ask(identities_->SetServiceAccountDisabled(email, true)));
  EXPECT_THAT(Refusal(token), HasSubstr("is disabled"));
  ASSERT_TRUE(Ask(identities_->SetServiceAccountDisabled(email, false)));
  EXPECT_TRUE(Check(token));
}

TEST_F(Credentials, ASelfSignedJwtProvesItsAccount) {
  const Signer signer = MakeSigner();
  const std::string jwt = SelfSigned(signer);
  for (int i = 0; i < 2; ++i) {  // verified, then remembered
    const Result<Login> login = Check(jwt);
    ASSERT_TRUE(login) << login.error().message;
    EXPECT_EQ(login->principal, "serviceAccount:" + signer.email);
    EXPECT_EQ(login->credential, "self-signed by " + signer.key_id + " of " + signer.email);
  }
  clock_.now += seconds(3'600) + kClockSkewMax;
  EXPECT_THAT(Refusal(jwt), HasSubstr("has expired"));
}

TEST_F(Credentials, AJwtWithoutKeyIdTriesEveryKey) {
  Signer signer = MakeSigner();
  const auto second = Ask(identities_->CreateKey(signer.email));
  ASSERT_TRUE(second);
  const std::string claims = Claims(signer.email, "");
  EXPECT_TRUE(Check(Signed(signer.key, R"({"alg":"RS256"})", claims)));
  EXPECT_TRUE(Check(Signed(*RsaPrivateKey::FromPem(second->private_key_pem), R"({"alg":"RS256"})", claims)));
  signer.key_id = "unknown";
  EXPECT_FALSE(Check(SelfSigned(signer)));
}

TEST_F(Credentials, AnothersKeySignsNothing) {
  const Signer trainer = MakeSigner("trainer");
  const Signer reader = MakeSigner("reader");
  const std::string forged = SignJwt(reader.key, reader.key_id, Claims(trainer.email, ""));
  EXPECT_THAT(Refusal(forged), HasSubstr("no key of its issuer"));
  EXPECT_THAT(Refusal(SignJwt(reader.key, trainer.key_id, Claims(trainer.email, ""))),
              HasSubstr("no key of its issuer"));
  EXPECT_EQ(Refusal(forged),
            Refusal(SignJwt(reader.key, "", Claims("nobody@p.iam.gserviceaccount.com", ""))));
  EXPECT_FALSE(Prove(SignJwt(reader.key, reader.key_id,
                             Claims(trainer.email, R"(,"aud":"https://oauth2.googleapis.com/token")"))));
}

TEST_F(Credentials, DisabledKeysAndAccountsSignNothing) {
  const Signer signer = MakeSigner();
  const std::string jwt = SelfSigned(signer);
  ASSERT_TRUE(Check(jwt));  // remembered, and forgotten by each change below
  ASSERT_TRUE(Ask(identities_->SetKeyDisabled(signer.email, signer.key_id, true)));
  EXPECT_THAT(Refusal(jwt), HasSubstr("Key " + signer.key_id));
  ASSERT_TRUE(Ask(identities_->SetKeyDisabled(signer.email, signer.key_id, false)));
  ASSERT_TRUE(Check(jwt));
  ASSERT_TRUE(Ask(identities_->SetServiceAccountDisabled(signer.email, true)));
  EXPECT_THAT(Refusal(jwt), HasSubstr("is disabled"));
  ASSERT_TRUE(Ask(identities_->SetServiceAccountDisabled(signer.email, false)));
  ASSERT_TRUE(Check(jwt));
  ASSERT_TRUE(Ask(identities_->DeleteKey(signer.email, signer.key_id)));
  EXPECT_THAT(Refusal(jwt), HasSubstr("no key of its issuer"));
}

TEST_F(Credentials, AnAssertionNamesItsAccountAndKey) {
  const Signer signer = MakeSigner();
  const auto proven = Prove(AssertionOf(signer));
  ASSERT_TRUE(proven) << proven.error().message;
  EXPECT_EQ(proven->principal, "serviceAccount:" + signer.email);
  EXPECT_EQ(proven->key_id, signer.key_id);
  EXPECT_EQ(proven->target_audience, "");
  EXPECT_EQ(Prove(AssertionOf(signer, R"(,"target_audience":"z")"))->target_audience, "z");
  EXPECT_TRUE(Prove(AssertionOf(signer))) << "without jti, any number of times";
  EXPECT_FALSE(Prove(SelfSigned(signer))) << "no aud";
  EXPECT_FALSE(Check(AssertionOf(signer))) << "an assertion is no credential";
}

TEST_F(Credentials, AnAssertionsIdIsGoodOnce) {
  const Signer signer = MakeSigner();
  const std::string assertion = AssertionOf(signer, R"(,"jti":"once")");
  ASSERT_TRUE(Prove(assertion));
  EXPECT_THAT(Prove(assertion).error().message, HasSubstr("its jti was used before"));
  Restart();
  EXPECT_FALSE(Prove(assertion));
  const std::string bearer = SelfSigned(signer, R"(,"jti":"many")");
  EXPECT_TRUE(Check(bearer));
  EXPECT_TRUE(Check(bearer));
}

TEST_F(Credentials, ATokenEndsWithTheKeyThatAskedForIt) {
  const Signer signer = MakeSigner();
  const auto made = Ask(identities_->MakeToken({.principal = iam::ServiceAccountPrincipal(signer.email),
                                                .life = seconds(3'600),
                                                .description = "",
                                                .issuer = "key " + signer.key_id}));
  ASSERT_TRUE(made);
  EXPECT_EQ(Check(made->text)->credential,
            "token " + made->token.id() + " by key " + signer.key_id + " of " + signer.email);
  ASSERT_TRUE(Ask(identities_->SetKeyDisabled(signer.email, signer.key_id, true)));
  EXPECT_FALSE(Check(made->text));
  ASSERT_TRUE(Ask(identities_->DeleteKey(signer.email, signer.key_id)));
  EXPECT_TRUE(identities_->Tokens("").empty());
}

TEST_F(Credentials, SignaturesWaitInABoundedQueue) {
  const Signer signer = MakeSigner();
  int unavailable = 0;
  int proven = 0;
  constexpr int kOneTooMany = 200 + 1;  // IdentitiesState::kVerifyingMax
  for (int i = 0; i < kOneTooMany; ++i) {
    const std::string jwt = SelfSigned(signer, R"(,"scope":")" + std::to_string(i) + "\"");
    boost::asio::co_spawn(loop_, identities_->Check(jwt, own_),
                          [&](const std::exception_ptr&, const Result<Login>& login) {
                            proven += login ? 1 : 0;
                            unavailable += !login && login.error().code == Code::kUnavailable ? 1 : 0;
                          });
  }
  loop_.restart();
  loop_.run();
  EXPECT_EQ(proven, kOneTooMany - 1);
  EXPECT_EQ(unavailable, 1);
  EXPECT_TRUE(Check(SelfSigned(signer, R"(,"scope":"later")")));
}

TEST_F(Credentials, AKeyThatIsDeletedWhileItsSignatureIsVerifiedProvesNothing) {
  const Signer signer = MakeSigner();
  Result<Login> login = std::unexpected(Error{});
  boost::asio::co_spawn(
      loop_, identities_->Check(SelfSigned(signer), own_),
      [&](const std::exception_ptr&, Result<Login> checked) { login = std::move(checked); });
  loop_.restart();
  loop_.run_one();  // the signature is with its thread
  ASSERT_TRUE(Ask(identities_->DeleteKey(signer.email, signer.key_id)));
  EXPECT_TRUE(!login || !identities_->StillHolds(*login));
  EXPECT_FALSE(Check(SelfSigned(signer)));
}

TEST(VerifiedJwts, TheOldestGivesWay) {
  VerifiedJwts seen;
  const SysTime now{};
  const Login login{.principal = "p", .credential = "c", .expires = now + seconds(10)};
  for (std::size_t i = 0; i <= VerifiedJwts::kEntriesMax; ++i) {
    seen.Remember(HashOf(std::to_string(i)), login);
    EXPECT_NE(seen.Find(HashOf("0"), now), nullptr) << "it is asked for all the time";
  }
  EXPECT_EQ(seen.size(), VerifiedJwts::kEntriesMax);
  EXPECT_EQ(seen.Find(HashOf("1"), now), nullptr);
  EXPECT_EQ(seen.Find(HashOf("2"), now + seconds(10)), nullptr);
  EXPECT_EQ(seen.size(), VerifiedJwts::kEntriesMax - 1);
  seen.Forget();
  EXPECT_EQ(seen.Find(HashOf("0"), now), nullptr);
}

TEST(UsedAssertions, AreBounded) {
  UsedAssertions used;
  const SysTime now{};
  for (std::size_t i = 0; i < UsedAssertions::kEntriesMax; ++i)
    ASSERT_TRUE(used.Use(HashOf(std::to_string(i)), now + seconds(10), now));
  EXPECT_FALSE(used.Use(HashOf("one more"), now + seconds(10), now));
  EXPECT_TRUE(used.Use(HashOf("one more"), now + seconds(20), now + seconds(10)));
}

}  // namespace
}  // namespace trainyard::identity
