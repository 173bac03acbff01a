#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/detached.hpp>
#include <functional>

#include "rules/iam/principal.h"
#include "stores/identity/policy_changes.h"
#include "stores/identity/testing/identities_fixture.h"
#include "stores/identity/token_changes.h"

namespace trainyard::identity {
namespace {

using std::chrono::minutes;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kAnn[] = "user:ann@example.com";
constexpr char kCreator[] = "roles/iam.serviceAccountTokenCreator";

/// Ann's token, and an account with a key that she may impersonate.
class Revocation : public IdentitiesTest {
 protected:
  Revocation() : account_(Account()), principal_("serviceAccount:" + account_) {
    EXPECT_TRUE(Ask(identities_->AddBinding(OfAccount(), kCreator, kAnn)));
    parent_ = *Ask(identities_->MakeToken({.principal = kAnn, .life = {}, .description = "", .issuer = ""}));
    const std::string name = Ask(identities_->CreateKey(account_))->key.name();
    key_ = name.substr(name.rfind('/') + 1);
  }
  [[nodiscard]] iam::Resource OfAccount() const { return iam::Resource::ServiceAccount("p", account_); }

  using NewToken = Identities::NewToken;
  /// The token that "POST /v1/token" and a refresh make, or, for a browser, a login.
  [[nodiscard]] NewToken Exchanged(const std::string& parent, bool browser = false) const {
    return {.principal = kAnn,
            .life = minutes(10),
            .description = "exchanged",
            .issuer = "token " + parent,
            .browser = browser};
  }
  [[nodiscard]] NewToken ByKey() const {
    return {.principal = principal_, .life = minutes(10), .description = "by key", .issuer = "key " + key_};
  }
  /// The token that generateAccessToken makes.
  [[nodiscard]] NewToken Impersonation() const {
    return {.principal = principal_,
            .life = minutes(10),
            .description = "generateAccessToken",
            .issuer = kAnn,
            .through = "token " + parent_.token.id()};
  }
  std::function<boost::asio::awaitable<Status>()> RevokeParent() {
    return [this] { return identities_->RevokeToken(parent_.token.id()); };
  }
  static boost::asio::awaitable<bool> Holds(Revocation* self, Login login) {
    co_return self->identities_->StillHolds(login);
  }
  static boost::asio::awaitable<bool> HoldsAfterRevocation(Revocation* self, Login login) {
    const Status revoked = co_await self->identities_->RevokeToken(login.token_id);
    co_return revoked && self->identities_->StillHolds(login);
  }
  std::function<boost::asio::awaitable<Status>()> TakeGrant() {
    return [this] { return Drop(this); };
  }
  static boost::asio::awaitable<Status> Drop(Revocation* self) {
    iam::v1::SetIamPolicyRequest none;
    none.mutable_policy()->set_version(1);
    TY_CO_RETURN_IF_ERROR(co_await self->identities_->SetPolicy(self->OfAccount(), std::move(none)));
    co_return Status{};
  }

  /// Requests the token after the change, while the change has its turn.
  Result<Identities::IssuedToken> MakeAfter(std::function<boost::asio::awaitable<Status>()> change,
                                            NewToken wanted) {
    boost::asio::co_spawn(loop_, change(), boost::asio::detached);
    return Ask(identities_->MakeToken(std::move(wanted)));
  }

  std::string account_;
  std::string principal_;
  std::string key_;
  Identities::IssuedToken parent_;
};

TEST_F(Revocation, NothingIsMadeOfATokenThatIsRevokedMeanwhile) {
  const std::string id = parent_.token.id();
  EXPECT_THAT(MakeAfter(RevokeParent(), Exchanged(id)).error().message, HasSubstr(id));
  for (const NewToken& wanted : {Exchanged(id), Exchanged(id, true), Impersonation()})
    EXPECT_EQ(Ask(identities_->MakeToken(wanted)).error().code, Code::kUnauthenticated);
  EXPECT_THAT(identities_->Tokens(""), IsEmpty());
}

TEST_F(Revocation, NorASession) {
  EXPECT_FALSE(MakeAfter(RevokeParent(), Exchanged(parent_.token.id(), true)));
  EXPECT_THAT(identities_->Tokens(""), IsEmpty());
}

TEST_F(Revocation, NorAnImpersonation) {
  EXPECT_FALSE(MakeAfter(RevokeParent(), Impersonation()));
  EXPECT_THAT(identities_->Tokens(""), IsEmpty());
}

TEST_F(Revocation, NorAnImpersonationWithoutTheRole) {
  EXPECT_THAT(MakeAfter(TakeGrant(), Impersonation()).error().message, HasSubstr("may not be"));
  EXPECT_THAT(identities_->Tokens(""), SizeIs(1));
}

TEST_F(Revocation, NorATokenOfAKey) {
  const auto drop = [this] { return identities_->DeleteKey(account_, key_); };
  EXPECT_THAT(MakeAfter(drop, ByKey()).error().message, HasSubstr("disabled or deleted"));
  const auto disable = [this] { return identities_->SetServiceAccountDisabled(account_, true); };
  EXPECT_FALSE(MakeAfter(disable, Impersonation()));
  const auto remove = [this] { return identities_->DeleteServiceAccount(account_); };
  EXPECT_FALSE(MakeAfter(remove, Impersonation()));
  EXPECT_THAT(identities_->Tokens(""), SizeIs(1));
}

TEST_F(Revocation, NorAnIdentityToken) {
  const Login shown = *Check(parent_.text);
  Identities::IdToken wanted{.email = account_, .audience = "https://x", .issuer = "https://yard"};
  wanted.still_may = [this, shown] { return Holds(this, shown); };
  EXPECT_TRUE(Ask(identities_->MakeIdToken(wanted)));
  wanted.still_may = [this, shown] { return HoldsAfterRevocation(this, shown); };
  EXPECT_EQ(Ask(identities_->MakeIdToken(wanted)).error().code, Code::kUnauthenticated);
}

TEST_F(Revocation, NorIsAnythingElseGivenOut) {
  const Login shown = *Check(parent_.text);
  const StillMay still_may = [this, shown] { return Holds(this, shown); };
  boost::asio::co_spawn(loop_, identities_->RevokeToken(parent_.token.id()), boost::asio::detached);
  const auto binding = Ask(identities_->AddBinding(OfAccount(), kCreator, "user:eve@example.com", still_may));
  EXPECT_EQ(binding.error().code, Code::kUnauthenticated);
  EXPECT_FALSE(Ask(identities_->CreateKey(account_, still_may)));
  EXPECT_FALSE(Ask(identities_->SetKeyDisabled(account_, key_, false, still_may)));
  EXPECT_FALSE(Ask(identities_->SetServiceAccountDisabled(account_, false, still_may)));
  EXPECT_FALSE(Ask(identities_->SetPolicy(OfAccount(), {}, still_may)));
  NewToken other{.principal = kAnn, .life = {}, .description = "", .issuer = kAnn};
  other.still_may = still_may;
  EXPECT_FALSE(Ask(identities_->MakeToken(std::move(other))));
  EXPECT_THAT(*identities_->Keys(account_), SizeIs(1));
}

TEST_F(Revocation, TakesWhatWasMadeWithIt) {
  const auto session = *Ask(identities_->MakeToken(Exchanged(parent_.token.id(), true)));
  const auto first = *Ask(identities_->MakeToken(Exchanged(parent_.token.id())));
  NewToken deeper = Impersonation();
  deeper.through = "token " + first.token.id();
  const std::string impersonated = Ask(identities_->MakeToken(deeper))->text;
  ASSERT_TRUE(Check(impersonated));
  ASSERT_TRUE(identities_->CheckSession(session.text));
  ASSERT_TRUE(Ask(identities_->RevokeToken(parent_.token.id())));
  for (int i = 0; i < 2; ++i, Restart()) {
    EXPECT_FALSE(Check(first.text));
    EXPECT_FALSE(Check(impersonated));
    EXPECT_FALSE(identities_->CheckSession(session.text));
    EXPECT_THAT(identities_->Tokens(""), IsEmpty());
  }
}

TEST_F(Revocation, AnImpersonationIsWorthItsRole) {
  const auto made = *Ask(identities_->MakeToken(Impersonation()));
  const Login login = *Check(made.text);
  EXPECT_TRUE(identities_->StillHolds(login));
  ASSERT_TRUE(Ask(TakeGrant()()));
  EXPECT_THAT(Refusal(made.text), HasSubstr("may not be"));
  EXPECT_FALSE(identities_->StillHolds(login)) << "its streams end";
}

/// Without a database file: thousands of tokens.
class Logins : public testing::Test {
 protected:
  Logins() { known_.Apply(FirstAdministrator("e")); }
  /// Makes a token from `parent` (empty: from none) and returns its id.
  std::string Make(const std::string& parent = "") {
    const std::string id = "t" + std::to_string(++made_);
    const Identities::NewToken wanted{.principal = kAnn,
                                      .life = minutes(10),
                                      .description = "",
                                      .issuer = parent.empty() ? "" : "token " + parent};
    const Result<AccessChange> change = TokenMade(known_, wanted, id, HashOf(id), now_);
    EXPECT_TRUE(change) << change.error().message;
    if (change) known_.Apply(*change);
    return change ? id : "";
  }
  [[nodiscard]] bool Has(const std::string& id) const { return known_.FindTokenById(id) != nullptr; }

  Directory known_{"home"};
  SysTime now_{std::chrono::seconds{1'700'000'000}};
  int made_ = 0;
};

TEST_F(Logins, LockNobodyOut) {
  const std::string stolen = Make();
  const std::string own = Make();
  const std::string session = Make(own);
  const std::string first = Make(stolen);
  now_ += std::chrono::seconds(1);
  for (int i = 0; i < Identities::kExchangedMax; ++i) Make(stolen);
  EXPECT_FALSE(Has(first)) << "the oldest of the same token gives way";
  EXPECT_TRUE(Has(session)) << "another token's does not";
  EXPECT_THAT(known_.TokensOf(kAnn), SizeIs(Identities::kExchangedMax + 3));
  EXPECT_NE(Make(own), "");
  EXPECT_NE(Make(), "");
}

TEST_F(Logins, CountAsOneWhateverTheyAreMadeOf) {
  const std::string token = Make();
  const std::string first = Make(token);
  const std::string second = Make(first);
  now_ += std::chrono::seconds(1);
  for (int i = 0; i < Identities::kExchangedMax - 2; ++i) Make(token);
  EXPECT_TRUE(Has(second));
  Make(token);
  EXPECT_FALSE(Has(first));
  EXPECT_FALSE(Has(second)) << "it goes with what it was made of";
}

TEST_F(Logins, DoNotEndWhatTheyAreMadeOf) {
  std::string last = Make();
  std::vector<std::string> line{last};
  for (std::size_t i = 1; i < kExchangesMax; ++i) line.push_back(last = Make(last));
  now_ += std::chrono::seconds(1);
  for (int i = 0; i < Identities::kExchangedMax; ++i) ASSERT_NE(Make(last), "") << i;
  for (const std::string& id : line) EXPECT_TRUE(Has(id));
  const std::string leaf = Make(last);
  const Identities::NewToken deeper{
      .principal = kAnn, .life = minutes(10), .description = "", .issuer = "token " + leaf};
  EXPECT_EQ(TokenMade(known_, deeper, "x", HashOf("x"), now_).error().code, Code::kFailedPrecondition);
}

TEST_F(Logins, WhatIsMadeForOthersIsRefusedAtItsLimit) {
  for (int i = 0; i < Identities::kTokensMax; ++i) Make();
  const Identities::NewToken one_more{.principal = kAnn, .life = {}, .description = "", .issuer = ""};
  EXPECT_EQ(TokenMade(known_, one_more, "x", HashOf("x"), now_).error().code, Code::kResourceExhausted);
  EXPECT_NE(Make("t1"), "") << "logins go on";
  now_ += minutes(11);
  EXPECT_TRUE(TokenMade(known_, one_more, "x", HashOf("x"), now_));
}

}  // namespace
}  // namespace trainyard::identity
