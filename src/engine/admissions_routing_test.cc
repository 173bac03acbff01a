#include "engine/admissions.h"

#include <gtest/gtest.h>

#include "engine/fake/fake_engine.h"
#include "engine/testing/loop.h"

namespace trainyard::engine {
namespace {

class AdmissionsRoutingTest : public testing::Test {
 protected:
  AdmissionsRoutingTest() {
    here_.AddNode("here", 4);
    cluster_.AddNode("node1", 4);
  }
  Grant Reserve(std::int64_t uid, const std::string& region, std::optional<Grant> granted = std::nullopt) {
    placement::Gang gang{.uid = uid, .job_id = "j", .region = region, .replicas = {{}}};
    std::optional<Grant> given;
    auto answer = admissions_.Reserve(
        {.key = {.job_uid = uid, .try_number = 1}, .gang = std::move(gang), .granted = std::move(granted)},
        {.on_grant = [&given](Grant grant) { given = std::move(grant); }, .on_wait = {}, .on_revoked = {}});
    if (std::holds_alternative<Grant>(answer)) return std::get<Grant>(answer);
    EXPECT_TRUE(loop_.RunUntil([&] { return given.has_value(); }));
    return given.value_or(Grant());
  }

  Loop loop_;
  FakeEngine here_{loop_.context.get_executor()};
  FakeEngine cluster_{loop_.context.get_executor()};
  Admissions admissions_{loop_.context.get_executor(),
                         {.rooms = {{.name = placement::kLocalEngine, .engine = here_},
                                    {.name = placement::kSlurmEngine, .engine = cluster_}},
                          .engine_of = [](const placement::Gang& gang) {
                            return gang.region == "us-central1" ? placement::kSlurmEngine
                                                                : placement::kLocalEngine;
                          }}};
};

TEST_F(AdmissionsRoutingTest, TheRegionSaysWhere) {
  EXPECT_EQ(Reserve(1, "us-central1").slots(0).node(), "node1");
  EXPECT_EQ(Reserve(2, "europe-west1").slots(0).node(), "here");
}

TEST_F(AdmissionsRoutingTest, WhatIsAskedOrGivenBackGoesWhereTheRoomIs) {
  cluster_.Refuse("Maintenance.");
  admissions_.Reserve({.key = {.job_uid = 1, .try_number = 1},
                       .gang = {.uid = 1, .job_id = "j", .region = "us-central1", .replicas = {{}}}},
                      {});
  EXPECT_EQ(admissions_.WaitOf({.job_uid = 1, .try_number = 1})->reason, "Maintenance.");
  admissions_.Release({.job_uid = 1, .try_number = 1});
  EXPECT_FALSE(admissions_.WaitOf({.job_uid = 1, .try_number = 1}));
  EXPECT_FALSE(cluster_.WaitOf({.job_uid = 1, .try_number = 1}));
}

TEST_F(AdmissionsRoutingTest, RoomOnRecordStaysWhereItIsWhateverTheRegionsSayNow) {
  Grant granted;
  granted.set_try_number(1);
  granted.add_slots()->set_agent("3-1-1/0");
  EXPECT_EQ(Reserve(3, "europe-west1", granted).slots(0).agent(), "3-1-1/0");
  bool revoked_here = here_.WaitOf({.job_uid = 3, .try_number = 1}).has_value();
  EXPECT_FALSE(revoked_here);
}

}  // namespace
}  // namespace trainyard::engine
