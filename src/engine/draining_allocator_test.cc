#include "engine/draining_allocator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "engine/fake/fake_allocator.h"
#include "engine/testing/loop.h"

namespace trainyard::engine {
namespace {

using testing::ElementsAre;

constexpr int kRoom = 2;

class DrainingAllocatorTest : public testing::Test {
 protected:
  struct Told {
    int grants = 0;
    int waits = 0;
    std::vector<std::string> revocations;
  };

  void SetUp() override { fake_.AddNode("node", kRoom); }

  std::variant<Grant, Pending> Reserve(std::int64_t uid, Told& told, std::optional<Grant> granted = {},
                                       int try_number = 1) {
    placement::Gang gang;
    gang.uid = uid;
    gang.job_id = "j" + std::to_string(uid);
    gang.replicas.resize(1);
    return allocator_.Reserve(
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
    const auto wait = allocator_.WaitOf({.job_uid = uid, .try_number = 1});
    return wait ? wait->reason : "";
  }
  void Drain() { allocator_.Drain({.reason = "draining", .unblock = "turn it off"}); }

  Loop loop_;
  FakeAllocator fake_{loop_.context.get_executor()};
  DrainingAllocator allocator_{loop_.context.get_executor(), fake_};
  Told told_;
};

TEST_F(DrainingAllocatorTest, WhatHasRoomKeepsItAndNothingElseGetsAny) {
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
  EXPECT_THAT(allocator_.Granted(), ElementsAre(1));
  allocator_.GoOn();
  Settle();
  EXPECT_EQ(second.grants, 1);
  EXPECT_THAT(allocator_.Granted(), ElementsAre(1, 2));
}

TEST_F(DrainingAllocatorTest, WhatWaitsAlreadyGetsNoRoomThatComesFree) {
  Told others;
  Reserve(1, others);
  Reserve(2, others);
  Reserve(3, told_);
  Settle();
  ASSERT_EQ(others.grants, 2);
  Drain();
  allocator_.Release({.job_uid = 1, .try_number = 1});
  Settle();
  EXPECT_EQ(told_.grants, 0);
  EXPECT_EQ(ReasonOf(3), "draining");
  EXPECT_EQ(allocator_.waiting_count(), 1U);
  allocator_.GoOn();
  Settle();
  EXPECT_EQ(told_.grants, 1);
  EXPECT_EQ(ReasonOf(3), "");
}

TEST_F(DrainingAllocatorTest, AGrantOnRecordIsRestored) {
  const auto first = [this] {
    Told told;
    Reserve(1, told);
    Settle();
    return std::get<Grant>(Reserve(1, told));
  }();
  Drain();
  fake_.DropListeners();
  EXPECT_TRUE(std::holds_alternative<Grant>(Reserve(1, told_, first)));
  EXPECT_THAT(allocator_.Granted(), ElementsAre(1));
}

TEST_F(DrainingAllocatorTest, ARevokedJobWaitsWithItsNextTry) {
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
  EXPECT_THAT(allocator_.Granted(), ElementsAre());
}

TEST_F(DrainingAllocatorTest, OneThatIsHeldCanBeReleasedAndDetached) {
  Drain();
  Reserve(1, told_);
  Reserve(2, told_);
  allocator_.Release({.job_uid = 1, .try_number = 1});
  allocator_.Detach({.job_uid = 2, .try_number = 1});
  allocator_.GoOn();
  Settle();
  EXPECT_EQ(told_.grants, 0);
  EXPECT_EQ(told_.waits, 0);
  EXPECT_EQ(allocator_.waiting_count(), 0U);
}

}  // namespace
}  // namespace trainyard::engine
