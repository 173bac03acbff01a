#include "control/run/token_service.h"

#include <gtest/gtest.h>

#include "control/testing/world.h"

namespace trainyard::control {
namespace {

const std::string kAttempt = "1-master-replica-0-1";

/// A running job, and tokens for its attempt.
class TokenServiceTest : public World {
 protected:
  void CreateRunning() {
    replicas_->SetScript([](const replica::v1::Manifest&) { return FakeScript{.exit = std::nullopt}; });
    ASSERT_TRUE(Create(MakeJob("j")));
    ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  }
  Result<std::string> Issue(const std::string& owner = kAttempt) {
    TokenService tokens(settings_, clock_, *service_);
    return Await(tokens.Issue(owner));
  }
  Status Check(const std::string& token) {
    TokenService tokens(settings_, clock_, *service_);
    const Result<AccessToken> read = Await(tokens.Check(token));
    return read ? Status() : std::unexpected(read.error());
  }
};

TEST_F(TokenServiceTest, EachTokenIsNewAndOfWhoAsks) {
  CreateRunning();
  const std::string first = Issue().value();
  EXPECT_NE(first, Issue().value());
  EXPECT_EQ(ReadAccessToken(settings_.keys, first, clock_.Now()).value().owner, kAttempt);
  const std::string shared = Issue(kAnyReplica).value();
  EXPECT_EQ(ReadAccessToken(settings_.keys, shared, clock_.Now()).value().owner, kAnyReplica);
  EXPECT_TRUE(Check(first));
  EXPECT_TRUE(Check(shared));
  EXPECT_EQ(Check("ya29.trainyard.x").error().code, Code::kUnauthenticated);
}

TEST_F(TokenServiceTest, ATokenDiesWithItsAttempt) {
  CreateRunning();
  const std::string token = Issue().value();
  const std::string shared = Issue(kAnyReplica).value();
  KillServer();
  StartServer();
  EXPECT_TRUE(Check(token)) << "a restart is not the attempt's end";
  replicas_->End(kAttempt, Exit(0));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  for (int restarts = 0; restarts < 2; ++restarts) {
    EXPECT_EQ(Check(token).error().code, Code::kUnauthenticated);
    EXPECT_EQ(Issue().error().code, Code::kPermissionDenied);
    EXPECT_TRUE(Check(shared));
    KillServer();
    StartServer();
  }
}

TEST_F(TokenServiceTest, ATokenIsNotTheNextAttempts) {
  CreateRunning();
  const std::string token = Issue().value();
  KillServer();
  replicas_->Lose(kAttempt);
  StartServer();
  ASSERT_TRUE(RunUntil([this] { return replicas_->started().size() == 2; }));
  EXPECT_EQ(Check(token).error().code, Code::kUnauthenticated);
  EXPECT_TRUE(Issue("1-master-replica-0-2"));
}

TEST_F(TokenServiceTest, ATokenExpires) {
  CreateRunning();
  const std::string token = Issue().value();
  clock_.Advance(kAccessTokenLife);
  EXPECT_EQ(Check(token).error().code, Code::kUnauthenticated);
}

}  // namespace
}  // namespace trainyard::control
