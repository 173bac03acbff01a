#include "engine/routed_allocator.h"

#include <gtest/gtest.h>

#include "engine/fake/fake_allocator.h"
#include "engine/testing/loop.h"

namespace trainyard::engine {
namespace {

class RoutedAllocatorTest : public testing::Test {
 protected:
  RoutedAllocatorTest() {
    here_.AddNode("here", 4);
    cluster_.AddNode("node1", 4);
  }
  Grant Reserve(std::int64_t uid, const std::string& region, std::optional<Grant> granted = std::nullopt) {
    placement::Gang gang{.uid = uid, .job_id = "j", .region = region, .replicas = {{}}};
    std::optional<Grant> given;
    auto answer = routed_.Reserve(
        {.key = {.job_uid = uid, .try_number = 1}, .gang = std::move(gang), .granted = std::move(granted)},
        {.on_grant = [&given](Grant grant) { given = std::move(grant); }, .on_wait = {}, .on_revoked = {}});
    if (std::holds_alternative<Grant>(answer)) return std::get<Grant>(answer);
    EXPECT_TRUE(loop_.RunUntil([&] { return given.has_value(); }));
    return given.value_or(Grant());
  }

  Loop loop_;
  FakeAllocator here_{loop_.context.get_executor()};
  FakeAllocator cluster_{loop_.context.get_executor()};
  RoutedAllocator routed_{here_, cluster_,
                          [](const placement::Gang& gang) { return gang.region == "us-central1"; }};
};

TEST_F(RoutedAllocatorTest, TheRegionSaysWhere) {
  EXPECT_EQ(Reserve(1, "us-central1").slots(0).node(), "node1");
  EXPECT_EQ(Reserve(2, "europe-west1").slots(0).node(), "here");
}

TEST_F(RoutedAllocatorTest, WhatIsAskedOrGivenBackGoesWhereTheRoomIs) {
  cluster_.Refuse("Maintenance.");
  routed_.Reserve({.key = {.job_uid = 1, .try_number = 1},
                   .gang = {.uid = 1, .job_id = "j", .region = "us-central1", .replicas = {{}}}},
                  {});
  EXPECT_EQ(routed_.WaitOf({.job_uid = 1, .try_number = 1})->reason, "Maintenance.");
  routed_.Release({.job_uid = 1, .try_number = 1});
  EXPECT_FALSE(routed_.WaitOf({.job_uid = 1, .try_number = 1}));
  EXPECT_FALSE(cluster_.WaitOf({.job_uid = 1, .try_number = 1}));
}

TEST_F(RoutedAllocatorTest, RoomOnRecordStaysWhereItIsWhateverTheRegionsSayNow) {
  Grant granted;
  granted.set_try_number(1);
  granted.add_slots()->set_agent("3-1-1/0");
  EXPECT_EQ(Reserve(3, "europe-west1", granted).slots(0).agent(), "3-1-1/0");
  bool revoked_here = here_.WaitOf({.job_uid = 3, .try_number = 1}).has_value();
  EXPECT_FALSE(revoked_here);
}

}  // namespace
}  // namespace trainyard::engine
