#include "control/intake/instance.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "rules/cluster/project_number.h"

namespace trainyard::control {
namespace {

std::int64_t Number(std::string_view) { return 123; }

v1::JobRecord RunningJob() {
  v1::JobRecord job;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(project: 'p' uid: 7 cluster_hash: '0123456789' runtime_version: '2.15'
         job { training_input { region: 'europe-west4' } }
         replicas { id { type: MASTER } machine_type: 'n1-standard-4' attempt: 1
                    slot { address: '127.0.0.7' devices { accelerator_type: 'TPU_V3' tpu_node_name: 'tpu' } } })",
      &job));
  return job;
}

TEST(InstanceOf, SaysWhatTheReplicaHas) {
  const Instance instance = InstanceOf(RunningJob(), 0, Number);
  EXPECT_EQ(instance, (Instance{.project = "p",
                                .project_number = 123,
                                .service_account = cluster::ServiceAccount(123),
                                .zone = "europe-west4-b",
                                .name = "cmle-training-chief-0123456789-0",
                                .id = instance.id,
                                .machine_type = "n1-standard-4",
                                .address = "127.0.0.7",
                                .runtime_version = "2.15",
                                .tpu = Instance::Tpu{.node_name = "tpu", .accelerator_type = "v3-8"}}));
  EXPECT_LT(instance.id, std::uint64_t{1} << 63);
  EXPECT_NE(instance.id, 0U);
}

TEST(InstanceOf, ATpuV5HasTheChipsOfItsMachine) {
  v1::JobRecord job = RunningJob();
  job.mutable_replicas(0)->mutable_accelerators()->set_count(4);
  job.mutable_replicas(0)->mutable_slot()->mutable_devices()->set_accelerator_type("TPU_V5_LITEPOD");
  EXPECT_EQ(InstanceOf(job, 0, Number).tpu->accelerator_type, "v5litepod-4");
  job.mutable_replicas(0)->mutable_slot()->mutable_devices()->set_accelerator_type("TPU_V4_POD");
  EXPECT_EQ(InstanceOf(job, 0, Number).tpu->accelerator_type, "v4-8");
}

TEST(InstanceOf, IsTheSameForTheNextAttempt) {
  v1::JobRecord job = RunningJob();
  job.mutable_replicas(0)->set_attempt(2);
  EXPECT_EQ(InstanceOf(job, 0, Number), InstanceOf(RunningJob(), 0, Number));
}

TEST(InstanceOf, AnImageAndNoTpu) {
  v1::JobRecord job = RunningJob();
  job.mutable_replicas(0)->set_image("i");
  job.mutable_replicas(0)->mutable_slot()->clear_devices();
  job.mutable_replicas(0)->mutable_endpoint()->set_address("10.77.0.2");
  const Instance instance = InstanceOf(job, 0, Number);
  EXPECT_EQ(instance.runtime_version, "");
  EXPECT_EQ(instance.tpu, std::nullopt);
  EXPECT_EQ(instance.address, "10.77.0.2") << "where the replica said that it is";
}

}  // namespace
}  // namespace trainyard::control
