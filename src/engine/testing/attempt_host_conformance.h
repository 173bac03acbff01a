#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/attempt_host.h"
#include "engine/testing/loop.h"

/// What every attempt host does: the contract of engine/attempt_host.h as tests. `World` is a testing::Test
/// with
/// - Loop& loop(), AttemptHost& host();
/// - Manifest Order(): the job's part for attempt kConformanceAttempt of job "census", whose program runs
/// until it is told to end;
/// - Slot slot(): one with a device, "0";
/// - AttemptRef ref(): the attempt in that slot, as List names it;
/// - bool LetEnd(): its program ends with status 4; true once its supervisor was dismissed;
/// - void Restart(): the server's side of the host is gone, and a new one looks at the same attempts.
namespace trainyard::engine {

inline constexpr const char* kConformanceAttempt = "7-master-replica-0-1";

template <class World>
class AttemptHostConformance : public World {
 protected:
  AttemptHostConformance() { Listen(); }
  void Listen() {
    this->host().SetOnGone([this](const std::string& attempt_id) { gone_.push_back(attempt_id); });
  }
  Status Start() { return this->loop().Run(this->host().Start(this->Order(), this->slot())); }
  AttemptState Inspect() { return this->loop().Run(this->host().Inspect(ref_)).state; }
  Status Forget() { return this->loop().Run(this->host().Forget(ref_)); }
  Result<AttemptHost::Remains> Collect() { return this->loop().Run(this->host().Collect(ref_, 0)); }
  bool IsListed() {
    const auto listed = this->loop().Run(this->host().List());
    return listed && std::ranges::find(*listed, ref_) != listed->end();
  }
  bool WaitUntilGone() {
    return this->loop().RunUntil([this] { return !gone_.empty(); });
  }

  const AttemptRef ref_ = this->ref();
  std::vector<std::string> gone_;
};

TYPED_TEST_SUITE_P(AttemptHostConformance);

TYPED_TEST_P(AttemptHostConformance, NothingIsKnownOfAnAttemptThatWasNeverStarted) {
  EXPECT_EQ(this->Inspect(), AttemptState::kAbsent);
  EXPECT_FALSE(this->IsListed());
  EXPECT_EQ(this->loop().Run(this->host().HoldingOf(this->ref_)).error().code, Code::kNotFound);
  EXPECT_TRUE(this->loop().Run(this->host().Kill(this->ref_)));
  EXPECT_TRUE(this->Forget());
}

TYPED_TEST_P(AttemptHostConformance, AnAttemptIsStartedOnceAndKeptWhileItLives) {
  ASSERT_TRUE(this->Start());
  EXPECT_EQ(this->Inspect(), AttemptState::kAlive);
  EXPECT_TRUE(this->IsListed());
  const auto holding = this->loop().Run(this->host().HoldingOf(this->ref_));
  ASSERT_TRUE(holding);
  EXPECT_EQ(holding->job_id, "census");
  EXPECT_THAT(holding->devices.gpus(), testing::ElementsAre("0"));
  EXPECT_EQ(this->Start().error().code, Code::kAlreadyExists);
  EXPECT_EQ(this->Collect().error().code, Code::kFailedPrecondition);
  EXPECT_EQ(this->Forget().error().code, Code::kFailedPrecondition);
  EXPECT_EQ(this->Inspect(), AttemptState::kAlive);
  EXPECT_TRUE(this->gone_.empty());
  EXPECT_TRUE(this->loop().Run(this->host().Kill(this->ref_)));
}

TYPED_TEST_P(AttemptHostConformance, WhatEndedIsReportedOnceAndKeptUntilForgotten) {
  ASSERT_TRUE(this->Start());
  ASSERT_TRUE(this->LetEnd());
  ASSERT_TRUE(this->WaitUntilGone());
  EXPECT_EQ(this->gone_, std::vector<std::string>{kConformanceAttempt});
  EXPECT_EQ(this->Inspect(), AttemptState::kEnded);
  const auto remains = this->Collect();
  ASSERT_TRUE(remains);
  EXPECT_EQ(remains->exit.exit_code(), 4);
  EXPECT_TRUE(this->IsListed());
  EXPECT_TRUE(this->Forget());
  EXPECT_EQ(this->Inspect(), AttemptState::kAbsent);
  EXPECT_FALSE(this->IsListed());
  EXPECT_TRUE(this->Forget()) << "again";
  EXPECT_EQ(this->gone_.size(), 1U);
}

TYPED_TEST_P(AttemptHostConformance, WhatWasKilledIsLost) {
  ASSERT_TRUE(this->Start());
  EXPECT_TRUE(this->loop().Run(this->host().Kill(this->ref_)));
  ASSERT_TRUE(this->WaitUntilGone());
  EXPECT_EQ(this->Inspect(), AttemptState::kLost);
  const auto remains = this->Collect();
  ASSERT_TRUE(remains);
  EXPECT_EQ(remains->exit.cause(), ExitRecord::LOST);
  EXPECT_TRUE(this->loop().Run(this->host().Kill(this->ref_))) << "again";
  EXPECT_TRUE(this->Forget());
}

TYPED_TEST_P(AttemptHostConformance, AttemptsOutliveTheServerAndAreAdopted) {
  ASSERT_TRUE(this->Start());
  this->Restart();
  this->Listen();
  EXPECT_EQ(this->Inspect(), AttemptState::kAlive);
  EXPECT_TRUE(this->IsListed());
  EXPECT_EQ(this->Start().error().code, Code::kAlreadyExists);
  EXPECT_TRUE(this->loop().Run(this->host().Kill(this->ref_)));
  ASSERT_TRUE(this->WaitUntilGone());
  EXPECT_EQ(this->gone_, std::vector<std::string>{kConformanceAttempt});
  EXPECT_TRUE(this->Forget());
}

REGISTER_TYPED_TEST_SUITE_P(AttemptHostConformance, NothingIsKnownOfAnAttemptThatWasNeverStarted,
                            AnAttemptIsStartedOnceAndKeptWhileItLives,
                            WhatEndedIsReportedOnceAndKeptUntilForgotten, WhatWasKilledIsLost,
                            AttemptsOutliveTheServerAndAreAdopted);

}  // namespace trainyard::engine
