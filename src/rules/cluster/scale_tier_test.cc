#include "rules/cluster/scale_tier.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <random>

namespace trainyard::cluster {
namespace {

using ml::v1::TrainingInput;

TrainingInput Input(const std::string& text) {
  TrainingInput input;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &input)) << text;
  return input;
}

/// "master-0:standard worker-0:..." for an expansion, or "FIELD: message".
std::string Summary(const Result<std::vector<ReplicaPlan>>& replicas) {
  if (!replicas) return replicas.error().field + ": " + replicas.error().message;
  std::string text;
  for (const ReplicaPlan& replica : *replicas) {
    text += (text.empty() ? "" : " ") + replica::v1::TaskType_Name(replica.type) +
            std::to_string(replica.index) + "=" + replica.machine_type;
    if (replica.accelerators.count > 0) {
      text += "+" + std::to_string(replica.accelerators.count) + "x" +
              AcceleratorConfig::Type_Name(replica.accelerators.type);
    }
  }
  return text;
}

struct Row {
  const char* name;
  const char* input;
  const char* expected;
};
class ExpandTable : public testing::TestWithParam<Row> {};

TEST_P(ExpandTable, GivesTheDocumentedReplicas) {
  EXPECT_EQ(Summary(Expand(Input(GetParam().input))), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, ExpandTable,
    testing::Values(
        Row{"no_tier_is_basic", "", "MASTER0=standard"},
        Row{"basic", "scale_tier: BASIC", "MASTER0=standard"},
        Row{"basic_gpu", "scale_tier: BASIC_GPU", "MASTER0=standard_gpu+1xNVIDIA_TESLA_K80"},
        Row{"basic_tpu", "scale_tier: BASIC_TPU", "MASTER0=standard WORKER0=cloud_tpu+8xTPU_V2"},
        Row{"standard_1", "scale_tier: STANDARD_1",
            "MASTER0=complex_model_s WORKER0=complex_model_s WORKER1=complex_model_s WORKER2=complex_model_s "
            "WORKER3=complex_model_s PARAMETER_SERVER0=standard PARAMETER_SERVER1=standard "
            "PARAMETER_SERVER2=standard"},
        Row{"type_beside_basic_has_no_effect", "scale_tier: BASIC master_type: 'n1-standard-96'",
            "MASTER0=standard"},
        Row{"custom_master", "scale_tier: CUSTOM master_type: 'n1-standard-4'", "MASTER0=n1-standard-4"},
        Row{"custom_all",
            "scale_tier: CUSTOM master_type: 'n1-standard-4' worker_type: 'n1-standard-8' worker_count: 2 "
            "parameter_server_type: 'n1-highmem-2' parameter_server_count: 1 evaluator_type: 'n1-standard-4' "
            "evaluator_count: 1",
            "MASTER0=n1-standard-4 WORKER0=n1-standard-8 WORKER1=n1-standard-8 "
            "PARAMETER_SERVER0=n1-highmem-2 "
            "EVALUATOR0=n1-standard-4"},
        Row{"custom_gpus",
            "scale_tier: CUSTOM master_type: 'n1-highcpu-16' master_config { accelerator_config { count: 2 "
            "type: "
            "NVIDIA_TESLA_V100 } } worker_type: 'a2-highgpu-1g' worker_count: 1",
            "MASTER0=n1-highcpu-16+2xNVIDIA_TESLA_V100 WORKER0=a2-highgpu-1g+1xNVIDIA_TESLA_A100"},
        Row{"custom_tpu_v3",
            "scale_tier: CUSTOM master_type: 'n1-highcpu-16' worker_type: 'cloud_tpu' worker_count: 1 "
            "worker_config { "
            "accelerator_config { type: TPU_V3 count: 8 } }",
            "MASTER0=n1-highcpu-16 WORKER0=cloud_tpu+8xTPU_V3"},
        Row{"custom_without_master", "scale_tier: CUSTOM",
            "master_type: This value must be present when scale_tier is set to CUSTOM."},
        Row{"unknown_master", "scale_tier: CUSTOM master_type: 'n1-standard-2'",
            "master_type: The specified machine type for master is not supported: n1-standard-2. "
            "There are: n1-standard-4, n1-standard-8, n1-standard-16, n1-standard-32, n1-standard-64, "
            "n1-standard-96."},
        Row{"count_without_type", "scale_tier: CUSTOM master_type: 'standard' worker_count: 2",
            "worker_type: This value must be present when scale_tier is set to CUSTOM and worker_count is "
            "greater than "
            "zero."},
        Row{"type_without_count", "scale_tier: CUSTOM master_type: 'standard' evaluator_type: 'standard'",
            "evaluator_count: This value must be greater than zero when evaluator_type is set."},
        Row{"negative", "scale_tier: CUSTOM master_type: 'standard' parameter_server_count: -1",
            "parameter_server_count: The count must not be negative."},
        Row{"count_with_basic", "scale_tier: BASIC worker_count: 2",
            "worker_count: This value can only be used when scale_tier is set to CUSTOM."},
        Row{"count_without_tier", "evaluator_count: 1",
            "evaluator_count: This value can only be used when scale_tier is set to CUSTOM."},
        Row{"too_many",
            "scale_tier: CUSTOM master_type: 'standard' worker_type: 'standard' worker_count: "
            "9223372036854775807",
            "worker_count: A job cannot have more than 1000 replicas."}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Expand,
     TheTiersCostWhatTheirPriceSays) {  // the identity that proves the counts: spec cluster.md section 1
  struct Tier {
    TrainingInput::ScaleTier tier;
    std::size_t replicas;
    double units;
  };
  for (const Tier& row :
       {Tier{TrainingInput::BASIC, 1, 0.3878}, Tier{TrainingInput::STANDARD_1, 8, 4.0571},
        Tier{TrainingInput::PREMIUM_1, 31, 33.7829}, Tier{TrainingInput::BASIC_GPU, 1, 1.6939},
        Tier{TrainingInput::BASIC_TPU, 2, 9.5714}}) {
    TrainingInput input;
    input.set_scale_tier(row.tier);
    const auto replicas = Expand(input);
    ASSERT_TRUE(replicas);
    EXPECT_EQ(replicas->size(), row.replicas);
    EXPECT_NEAR(UnitsPerHour(*replicas), row.units, 0.001) << row.tier;
  }
}

TEST(Expand, ConservesCounts) {
  std::mt19937 random(20240117);
  for (int round = 0; round < 2000; ++round) {
    TrainingInput input;
    input.set_scale_tier(TrainingInput::CUSTOM);
    input.set_master_type("n1-standard-4");
    const auto some = [&] { return static_cast<std::int64_t>(random() % 40); };
    if (std::int64_t n = some(); n > 0) input.set_worker_count(n), input.set_worker_type("n1-standard-8");
    if (std::int64_t n = some(); n > 0)
      input.set_parameter_server_count(n), input.set_parameter_server_type("n1-highmem-2");
    if (std::int64_t n = some(); n > 0)
      input.set_evaluator_count(n), input.set_evaluator_type("n1-standard-4");
    const auto replicas = Expand(input);
    ASSERT_TRUE(replicas) << input.ShortDebugString();
    std::map<int, std::int64_t> counts;
    for (const ReplicaPlan& replica : *replicas) EXPECT_EQ(replica.index, counts[replica.type]++);
    EXPECT_EQ(counts[replica::v1::MASTER], 1);
    EXPECT_EQ(counts[replica::v1::WORKER], input.worker_count());
    EXPECT_EQ(counts[replica::v1::PARAMETER_SERVER], input.parameter_server_count());
    EXPECT_EQ(counts[replica::v1::EVALUATOR], input.evaluator_count());
    EXPECT_TRUE(std::ranges::is_sorted(*replicas, {}, &ReplicaPlan::type));
  }
}

}  // namespace
}  // namespace trainyard::cluster
