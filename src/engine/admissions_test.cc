#include "engine/admissions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "engine/fake/fake_engine.h"
#include "engine/testing/loop.h"

namespace trainyard::engine::admissions_test {
namespace {

using testing::ElementsAre;

constexpr int kRoom = 2;

class AdmissionsTest : public testing::Test {
 protected:
  struct Told {
    int grants = 0;
    int waits = 0;
    std::vector<std::string> revocations;
  };

  void SetUp() override {
    fake_.AddNode("node", kRoom);
    Serve();
  }

  std::variant<Grant, Pending> Reserve(std::int64_t uid, Told& told, std::optional<Grant> granted = {},
                                       int try_number = 1) {
    placement::Gang gang;
    gang.uid = uid;
    gang.job_id = "j" + std::to_string(uid);
    gang.replicas.resize(1);
    return admissions_->Reserve(
        {.key = {.job_uid = uid, .try_number = try_number},
         .gang = std::move(gang),
         .granted = std::move(granted)},
        {.on_grant = [&told](const Grant&) { ++told.grants; },
         .on_wait = [&told] { ++told.waits; },
         .on_revoked =
             [&told](Revocation revocation) { told.revocations.push_back(std::move(revocation.reason)); }});
  }
  void Settle() {
    loop_.context.restart();
    loop_.context.poll();
  }
  std::string ReasonOf(std::int64_t uid) {
    const auto wait = admissions_->WaitOf({.job_uid = uid, .try_number = 1});
    return wait ? wait->reason : "";
  }
  void Drain() { admissions_->Set(Stop::kDrained, {.reason = "draining", .unblock = "turn it off"}); }
  void GoOn() { admissions_->Clear(Stop::kDrained); }
  /// Starts a server, after removing the previous one.
  void Serve() {
    admissions_.reset();
    admissions_.emplace(loop_.context.get_executor(),
                        Admissions::Options{.rooms = {{.name = placement::kSlurmEngine, .engine = fake_}}});
  }

  Loop loop_;
  FakeEngine fake_{loop_.context.get_executor()};
  std::optional<Admissions> admissions_;
  Told told_;
};

TEST_F(AdmissionsTest, WhatHasRoomKeepsItAndNothingElseGetsAny) {
  Reserve(1, told_);
  Settle();
  ASSERT_EQ(told_.grants, 1);
  Drain();
  Told second;
  const auto answer = Reserve(2, second);
  ASSERT_TRUE(std::holds_alternative<Pending>(answer));
  EXPECT_EQ(second.waits, 0) << "not in the turn of the call";
  Settle();
  EXPECT_EQ(second.waits, 1);
  EXPECT_EQ(second.grants, 0) << "although there is room";
  EXPECT_EQ(ReasonOf(2), "draining");
  EXPECT_THAT(admissions_->Granted(), ElementsAre(1));
  GoOn();
  Settle();
  EXPECT_EQ(second.grants, 1);
  EXPECT_THAT(admissions_->Granted(), ElementsAre(1, 2));
}

/// An engine that keeps its own queue cancels what nobody asks for when it starts.
TEST_F(AdmissionsTest, ATakeoverHoldsNobodyBackFromAQueueThatOutlivesTheServer) {
  admissions_->Set(Stop::kTakingOver, {.reason = "taking over"});
  Reserve(1, told_);
  Settle();
  EXPECT_EQ(told_.grants, 1);
  Drain();
  Told second;
  Reserve(2, second);
  Settle();
  EXPECT_EQ(ReasonOf(2), "draining");
  GoOn();
  Settle();
  EXPECT_EQ(second.grants, 1);
}

TEST_F(AdmissionsTest, WhatWaitsAlreadyGetsNoRoomThatComesFree) {
  Told others;
  Reserve(1, others);
  Reserve(2, others);
  Reserve(3, told_);
  Settle();
  ASSERT_EQ(others.grants, 2);
  Drain();
  admissions_->Release({.job_uid = 1, .try_number = 1});
  Settle();
  EXPECT_EQ(told_.grants, 0);
  EXPECT_EQ(ReasonOf(3), "draining");
  EXPECT_EQ(admissions_->waiting_count(), 1U);
  GoOn();
  Settle();
  EXPECT_EQ(told_.grants, 1);
  EXPECT_EQ(ReasonOf(3), "");
}

TEST_F(AdmissionsTest, AGrantOnRecordIsRestored) {
  const auto first = [this] {
    Told told;
    Reserve(1, told);
    Settle();
    return std::get<Grant>(Reserve(1, told));
  }();
  Serve();
  Drain();
  EXPECT_TRUE(std::holds_alternative<Grant>(Reserve(1, told_, first)));
  EXPECT_THAT(admissions_->Granted(), ElementsAre(1));
}

TEST_F(AdmissionsTest, ARevokedJobWaitsWithItsNextTry) {
  Reserve(1, told_);
  Settle();
  Drain();
  fake_.LoseNode("node");
  Settle();
  ASSERT_EQ(told_.revocations.size(), 1U);
  fake_.AddNode("other", kRoom);
  EXPECT_TRUE(std::holds_alternative<Pending>(Reserve(1, told_, {}, 2)));
  Settle();
  EXPECT_EQ(told_.grants, 1);
  EXPECT_THAT(admissions_->Granted(), ElementsAre());
}

TEST_F(AdmissionsTest, OneThatIsHeldCanBeReleasedAndDetached) {
  Drain();
  Reserve(1, told_);
  Reserve(2, told_);
  admissions_->Release({.job_uid = 1, .try_number = 1});
  admissions_->Detach({.job_uid = 2, .try_number = 1});
  GoOn();
  Settle();
  EXPECT_EQ(told_.grants, 0);
  EXPECT_EQ(told_.waits, 0);
  EXPECT_EQ(admissions_->waiting_count(), 0U);
}

TEST_F(AdmissionsTest, TheFirstStopIsToldAndTheLastOneHoldsBack) {
  Reserve(1, told_);
  admissions_->Set(Stop::kDiskShort, {.reason = "disk", .unblock = "remove something"});
  Settle();
  EXPECT_EQ(ReasonOf(1), "disk");
  EXPECT_EQ(told_.waits, 1);
  Drain();
  Settle();
  EXPECT_EQ(ReasonOf(1), "draining");
  EXPECT_EQ(told_.waits, 2);
  admissions_->Set(Stop::kDiskShort, {.reason = "disk, again", .unblock = "remove something"});
  Settle();
  EXPECT_EQ(told_.waits, 2) << "its reason is the same";
  GoOn();
  Settle();
  EXPECT_EQ(ReasonOf(1), "disk, again");
  EXPECT_EQ(told_.waits, 3);
  EXPECT_EQ(told_.grants, 0);
  admissions_->Clear(Stop::kDiskShort);
  Settle();
  EXPECT_EQ(told_.grants, 1);
}

}  // namespace
}  // namespace trainyard::engine::admissions_test
