#include "rules/slurm/component.h"

#include <gmock/gmock.h>

#include <vector>

namespace trainyard::slurm {
namespace {

using ml::v1::AcceleratorConfig;
using testing::ElementsAre;
using testing::Pair;

Node NodeOf(std::string partition, std::vector<NodeGpus> gpus, std::string state = "idle") {
  Node node;
  node.default_partition = partition == "cpu";
  node.partition = std::move(partition);
  node.partition_up = true;
  node.name = "n";
  node.state = std::move(state);
  node.gpus = std::move(gpus);
  return node;
}

const std::vector<Node> kNodes{NodeOf("cpu", {}), NodeOf("gpu", {{"nvidia_tesla_t4", 2}, {"a100", 1}}),
                               NodeOf("old", {{"k80", 4}}, "down*"), NodeOf("plain", {{"", 1}}),
                               NodeOf("plain", {{"none", 0}})};

TEST(PartitionGpus, AreThoseOfUsableNodes) {
  EXPECT_THAT(
      GpusByPartition(kNodes),
      ElementsAre(Pair("", ElementsAre()), Pair("cpu", ElementsAre()), Pair("gpu", ElementsAre("a100", "t4")),
                  Pair("old", ElementsAre()), Pair("plain", ElementsAre(""))));
}

struct Row {
  const char* name;
  const char* partition;
  const char* rule;  ///< for the T4; empty: none
  AcceleratorConfig::Type type;
  bool has;
};
class HasAcceleratorTest : public testing::TestWithParam<Row> {};
TEST_P(HasAcceleratorTest, AsJobsAskForThem) {
  SlurmSettings settings{.regions = {{"us-central1", GetParam().partition}}};
  if (*GetParam().rule != 0) settings.accelerators["nvidia-tesla-t4"] = GetParam().rule;
  EXPECT_EQ(HasAccelerator(GpusByPartition(kNodes), settings, "us-central1", GetParam().type),
            GetParam().has);
}
constexpr auto kT4 = AcceleratorConfig::NVIDIA_TESLA_T4;
constexpr auto kP4 = AcceleratorConfig::NVIDIA_TESLA_P4;
INSTANTIATE_TEST_SUITE_P(
    Rules, HasAcceleratorTest,
    testing::Values(Row{"its_type", "gpu", "", kT4, true}, Row{"another_stands_for_it", "gpu", "", kP4, true},
                    Row{"mapped", "gpu", "a100", kT4, true},
                    Row{"mapped_to_none_there", "gpu", "h100", kT4, false},
                    Row{"mapped_to_any", "plain", "any", kT4, true}, Row{"no_gpus", "cpu", "", kT4, false},
                    Row{"without_types", "plain", "", kT4, true},
                    Row{"type_unknown", "plain", "t4", kT4, false}, Row{"down", "old", "", kT4, false},
                    Row{"no_partition", "gone", "", kT4, false},
                    Row{"tpu", "gpu", "", AcceleratorConfig::TPU_V2, false}),
    [](const auto& row) { return row.param.name; });

TEST(PartitionGpus, MachineTypesMayHaveThemInAPartitionOfTheirOwn) {
  SlurmSettings settings;
  EXPECT_FALSE(HasAccelerator(GpusByPartition(kNodes), settings, "us-central1", kT4))
      << "the default partition";
  settings.machine_types["n1-standard-8"].options.partition = "gpu";
  EXPECT_TRUE(HasAccelerator(GpusByPartition(kNodes), settings, "us-central1", kT4));
}

TEST(PartitionGpus, MayBeThereWhileSlurmIsSilent) {
  EXPECT_TRUE(HasAccelerator({}, {}, "us-central1", kT4));
  EXPECT_FALSE(HasAccelerator({}, {}, "us-central1", AcceleratorConfig::TPU_V2));
}

}  // namespace
}  // namespace trainyard::slurm
