#include "rules/placement/engine_choice.h"

#include <gtest/gtest.h>

#include "rules/placement/accelerator_map.h"
#include "rules/placement/quota.h"

namespace trainyard::placement {
namespace {

using Kind = EngineChoice::Kind;

TEST(Regions, SayWhereAGangGoes) {
  const EngineChoice options{.kind = Kind::kLocal,
                             .regions = {{"us-central1", Kind::kSlurm}, {"us-east1", Kind::kLocal}}};
  const DevicePool here({}, AcceleratorMap::Parse("tpu-v2=none").value());
  Gang gang{.job_id = "j", .region = "us-central1", .replicas = {{}}};
  EXPECT_EQ(EngineOf(options, here, gang), kSlurmEngine);
  gang.region = "europe-west1";
  EXPECT_EQ(EngineOf(options, here, gang), kLocalEngine);
  gang.replicas[0].accelerator = ml::v1::AcceleratorConfig::TPU_V2;
  gang.replicas[0].accelerator_count = 8;
  EXPECT_EQ(EngineOf(options, here, gang), kLocalEngine) << "here it runs without";
  gang.replicas[0].accelerator = ml::v1::AcceleratorConfig::NVIDIA_TESLA_T4;
  EXPECT_EQ(EngineOf(options, here, gang), kSlurmEngine) << "where they may be";
  gang.region = "us-east1";
  EXPECT_EQ(EngineOf(options, here, gang), kLocalEngine) << "its region says so";
}

TEST(Regions, WithAcceleratorsElsewhereGoToTheClusterThatJobsUse) {
  const DevicePool here;
  const Gang gang{
      .job_id = "j",
      .replicas = {{.accelerator = ml::v1::AcceleratorConfig::NVIDIA_TESLA_T4, .accelerator_count = 1}}};
  EngineChoice options{.kind = Kind::kLocal, .regions = {{"us-central1", Kind::kKubernetes}}};
  EXPECT_EQ(EngineOf(options, here, gang), kKubernetesEngine);
  options.regions["us-east1"] = Kind::kSlurm;
  EXPECT_EQ(EngineOf(options, here, gang), kSlurmEngine);
  options.kind = Kind::kKubernetes;
  EXPECT_EQ(EngineOf(options, here, gang), kKubernetesEngine);
}

TEST(Grants, AreOfTheEngineWhoseSlotsTheyHave) {
  replica::v1::Grant grant;
  grant.add_slots();
  EXPECT_EQ(EngineOf(grant), kLocalEngine);
  grant.add_slots()->set_agent("n1-7");
  EXPECT_EQ(EngineOf(grant), kSlurmEngine) << "only a cluster has agents";
  grant.mutable_slots(1)->set_agent("17-1-2/pod-0");
  EXPECT_EQ(EngineOf(grant), kKubernetesEngine);
}

}  // namespace
}  // namespace trainyard::placement
