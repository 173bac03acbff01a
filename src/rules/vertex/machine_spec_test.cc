#include "rules/vertex/machine_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "rules/cluster/machine_type.h"
#include "rules/validation/validate.h"
#include "rules/vertex/custom_job.h"
#include "rules/vertex/testing/parse.h"

namespace trainyard::vertex::machine_spec_test {
namespace {

namespace aip = google::cloud::aiplatform::v1;
using ml::v1::AcceleratorConfig;
using ml::v1::TrainingInput;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::WithPools;

std::string PoolOf(std::string_view machine) {
  return std::string(R"([{"replicaCount": 1, "containerSpec": {"imageUri": "gcr.io/p/i"}, "machineSpec": )")
      .append(machine)
      .append("}]");
}

TEST(MachineSpec, EveryTypeOfVertexGoesWithWhatItBrings) {
  const jobs::ValidationContext context{.containers = true, .gpus = true, .tpus = true, .runtimes = {}};
  int machines = 0;
  for (const cluster::MachineType& type : cluster::MachineTypes()) {
    if (!type.is_of_vertex) continue;
    ++machines;
    aip::CustomJob asked = WithPools(PoolOf("{}"));
    aip::MachineSpec& machine =
        *asked.mutable_job_spec()->mutable_worker_pool_specs(0)->mutable_machine_spec();
    machine.set_machine_type(std::string(type.name));
    for (const bool is_named : {false, true}) {
      if (is_named && type.accelerators.count > 0) {
        aip::AcceleratorType accelerator{};
        ASSERT_TRUE(
            aip::AcceleratorType_Parse(AcceleratorConfig::Type_Name(type.accelerators.type), &accelerator));
        machine.set_accelerator_type(accelerator);
        machine.set_accelerator_count(static_cast<int>(type.accelerators.count));
      }
      const auto translated = JobOf(asked, "us-west3", 1);
      ASSERT_TRUE(translated.has_value()) << type.name << ": " << translated.error().message;
      EXPECT_THAT(translated->remarks, IsEmpty());
      const Status valid = jobs::Validate(translated->job, context);
      EXPECT_TRUE(valid.has_value()) << type.name << ": " << valid.error().message;
    }
  }
  EXPECT_EQ(machines, 141);
}

TEST(MachineSpec, EveryAcceleratorIsOneOfMlV1) {
  for (int number = aip::AcceleratorType_MIN + 1; number <= aip::AcceleratorType_MAX; ++number) {
    if (!aip::AcceleratorType_IsValid(number)) continue;
    const auto type = static_cast<aip::AcceleratorType>(number);
    EXPECT_EQ(AcceleratorConfig::Type_Name(AcceleratorOf(type)), aip::AcceleratorType_Name(type));
  }
  EXPECT_EQ(AcceleratorOf(static_cast<aip::AcceleratorType>(99)),
            AcceleratorConfig::ACCELERATOR_TYPE_UNSPECIFIED);
}

TEST(MachineSpec, AnUnknownNumberOfATypeIsNamed) {  // JSON with one is not read; over gRPC it comes so far
  aip::MachineSpec machine;
  machine.set_machine_type("n1-standard-4");
  machine.set_accelerator_type(static_cast<aip::AcceleratorType>(99));
  machine.set_accelerator_count(1);
  Findings findings;
  CheckMachine(machine, "m", findings);
  EXPECT_THAT(std::move(findings).ToError().message,
              HasSubstr("m.accelerator_type; Message: There is no accelerator type with the number 99."));
}

TEST(MachineSpec, ATpuIsTheReplicasOwn) {
  const auto translated = JobOf(
      WithPools(
          PoolOf(R"({"machineType": "cloud-tpu", "acceleratorType": "TPU_V3", "acceleratorCount": 8})")),
      "europe-west4", 1);
  ASSERT_TRUE(translated.has_value()) << translated.error().message;
  const TrainingInput& input = translated->job.training_input();
  EXPECT_EQ(input.master_type(), "cloud-tpu");
  EXPECT_EQ(input.master_config().accelerator_config().type(), AcceleratorConfig::TPU_V3);
  EXPECT_EQ(input.worker_type(), "");
}

TEST(MachineSpec, OneMachinesTopologyIsNoRemark) {
  for (const char* machine : {R"({"machineType": "ct5lp-hightpu-1t", "tpuTopology": "1x1"})",
                              R"({"machineType": "ct5lp-hightpu-4t", "tpuTopology": "2x2"})",
                              R"({"machineType": "ct5lp-hightpu-8t", "tpuTopology": "2x4"})"}) {
    const auto translated = JobOf(WithPools(PoolOf(machine)), "us-west4", 1);
    ASSERT_TRUE(translated.has_value()) << translated.error().message;
    EXPECT_THAT(translated->remarks, IsEmpty());
  }
  const auto other =
      JobOf(WithPools(PoolOf(R"({"machineType": "n1-standard-4", "tpuTopology": "2x2"})")), "us-west4", 1);
  ASSERT_TRUE(other.has_value());
  EXPECT_THAT(other->remarks, ElementsAre(HasSubstr("tpu_topology has no effect")));
}

struct Row {
  const char* machine;
  const char* field;  ///< of the machine
  const char* text;   ///< the whole message
};

class BadMachine : public ::testing::TestWithParam<Row> {};

TEST_P(BadMachine, IsRefusedWithWhatWouldFit) {
  const auto translated = JobOf(WithPools(PoolOf(GetParam().machine)), "us-central1", 1);
  ASSERT_FALSE(translated.has_value());
  const Error& error = translated.error();
  ASSERT_EQ(error.violations.size(), 1U) << error.message;
  EXPECT_EQ(error.violations[0].field,
            std::string("job_spec.worker_pool_specs[0].machine_spec.") + GetParam().field);
  EXPECT_EQ(error.violations[0].description, GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BadMachine,
    ::testing::Values(
        Row{"{}", "machine_type", "This field is required, for example n1-standard-4."},
        Row{R"({"machineType": "c2-standard-5"})", "machine_type",
            "Machine type \"c2-standard-5\" is not supported. There are: c2-standard-4, c2-standard-8, "
            "c2-standard-16, c2-standard-30, c2-standard-60."},
        Row{R"({"machineType": "zzz"})", "machine_type",
            "Machine type \"zzz\" is not supported. Use one such as n1-standard-4."},
        Row{R"({"machineType": "complex_model_m"})", "machine_type",
            "Machine type \"complex_model_m\" is not supported. It is a type of ml v1; use n1-highcpu-16."},
        Row{R"({"machineType": "cloud_tpu"})", "machine_type",
            "Machine type \"cloud_tpu\" is not supported. It is a type of ml v1; use cloud-tpu."},
        Row{R"({"machineType": "n1-standard-4", "acceleratorType": "NVIDIA_L4"})", "accelerator_type",
            "Both `accelerator_type` and `accelerator_count` should be specified or none."},
        Row{R"({"machineType": "n1-standard-4", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": -1})",
            "accelerator_count", "The count must not be negative."},
        Row{R"({"machineType": "n1-standard-4", "acceleratorType": "NVIDIA_L4", "acceleratorCount": 4})",
            "accelerator_type",
            "Accelerator \"NVIDIA_L4\" is not supported for machine type \"n1-standard-4\". Machine types "
            "with 4 of them: g2-standard-48."},
        Row{R"({"machineType": "e2-standard-4", "acceleratorType": "TPU_V3", "acceleratorCount": 8})",
            "accelerator_type",
            "Accelerator \"TPU_V3\" is not supported for machine type \"e2-standard-4\". Machine types with "
            "8 of them: cloud-tpu."},
        Row{R"({"machineType": "n1-standard-4", "acceleratorType": "NVIDIA_GB200", "acceleratorCount": 8})",
            "accelerator_type",
            "Accelerator \"NVIDIA_GB200\" is not supported for machine type \"n1-standard-4\". Machine types "
            "that may have it, and how many: a4x-highgpu-4g (4)."},
        Row{R"({"machineType": "a2-ultragpu-1g", "acceleratorType": "NVIDIA_A100_80GB", "acceleratorCount": 2})",
            "accelerator_count",
            "Machine type \"a2-ultragpu-1g\" cannot have 2 accelerators \"NVIDIA_A100_80GB\". Allowed "
            "numbers: 1. Machine types with 2 of them: a2-ultragpu-2g."},
        Row{R"({"machineType": "cloud-tpu", "acceleratorType": "TPU_V2", "acceleratorCount": 32})",
            "accelerator_count",
            "Machine type \"cloud-tpu\" cannot have 32 accelerators \"TPU_V2\". Allowed numbers: 8. A pod is "
            "many machines; on this server a job gets the TPU of one."},
        Row{R"({"machineType": "cloud-tpu", "tpuTopology": "16x16"})", "tpu_topology",
            "The topology of machine type \"cloud-tpu\" is 2x2, not \"16x16\". A pod is many machines; on "
            "this "
            "server a job gets the TPU of one."},
        Row{R"({"machineType": "ct5lp-hightpu-4t", "tpuTopology": "4x4"})", "tpu_topology",
            "The topology of machine type \"ct5lp-hightpu-4t\" is 2x2, not \"4x4\". A pod is many machines; "
            "on this server a job gets the TPU of one."},
        Row{R"({"machineType": "ct5lp-hightpu-8t", "tpuTopology": "99999x99999x99999x2"})", "tpu_topology",
            "The topology of machine type \"ct5lp-hightpu-8t\" is 2x4, not \"99999x99999x99999x2\". A pod is "
            "many machines; on this server a job gets the TPU of one."}));

}  // namespace
}  // namespace trainyard::vertex::machine_spec_test
