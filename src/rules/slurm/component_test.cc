#include "rules/slurm/component.h"

#include <gmock/gmock.h>

namespace trainyard::slurm {
namespace {

using ml::v1::AcceleratorConfig;
using placement::Gang;
using testing::ElementsAre;
using testing::IsEmpty;

Gang::Replica Machine(std::string type, double cpus, std::int64_t gib) {
  return {.machine_type = std::move(type), .cpus = cpus, .memory_bytes = gib << 30};
}

Gang GangOf(std::vector<Gang::Replica> replicas) {
  return {.uid = 1, .job_id = "j", .replicas = std::move(replicas)};
}

Node NodeOf(std::string name, int cpus, std::int64_t memory_mib, std::vector<NodeGpus> gpus = {}) {
  return {.partition = "main",
          .default_partition = true,
          .partition_up = true,
          .name = std::move(name),
          .cpus = cpus,
          .memory_mib = memory_mib,
          .state = "idle",
          .gpus = std::move(gpus)};
}

const std::vector<Node> kBig{NodeOf("n1", 64, 256'000), NodeOf("n2", 64, 256'000)};

TEST(Component, EqualReplicasShareOne) {
  const GangRequest request =
      RequestOf(GangOf({Machine("n1-standard-4", 4, 15), Machine("n1-standard-8", 8, 30),
                        Machine("n1-standard-4", 4, 15), Machine("n1-standard-8", 8, 30)}),
                {}, kBig);
  ASSERT_EQ(request.components.size(), 2U);
  EXPECT_THAT(request.components[0].replicas, ElementsAre(0, 2));
  EXPECT_EQ(request.components[0].cpus, 4);
  EXPECT_EQ(request.components[0].memory_mib, 15 * 1024);
  EXPECT_THAT(request.components[1].replicas, ElementsAre(1, 3));
  EXPECT_THAT(ReplicasOfSlots(request), ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(request.notes, IsEmpty());
}

TEST(Component, IsFittedToTheLargestNodeWithANote) {
  const std::vector<Node> small{NodeOf("n1", 2, 1'000), NodeOf("n2", 4, 4'000)};
  const Gang gang = GangOf({Machine("n1-standard-8", 8, 30), Machine("n1-standard-16", 16, 60)});
  const GangRequest request = RequestOf(gang, {}, small);
  ASSERT_EQ(request.components.size(), 1U) << "what is fitted to one node is equal";
  EXPECT_EQ(request.components[0].cpus, 4);
  EXPECT_EQ(request.components[0].memory_mib, 4'000);
  EXPECT_EQ(request.lack, "");
  EXPECT_THAT(
      request.notes,
      ElementsAre("n1-standard-8 is 8 CPUs, 30720 MiB; the default partition has no node as large: 4 CPUs, "
                  "4000 MiB are asked for.",
                  "n1-standard-16 is 16 CPUs, 61440 MiB; the default partition has no node as large: 4 CPUs, "
                  "4000 MiB are asked for."));
  const GangRequest strict = RequestOf(gang, {.sizes = Sizes::kStrict}, small);
  EXPECT_EQ(strict.lack,
            "n1-standard-8 is 8 CPUs, 30720 MiB, and the largest node of the default partition has 4 CPUs, "
            "4000 MiB.");
}

TEST(Component, MemoryThatNobodyWroteDownIsNotAskedFor) {
  const GangRequest request =
      RequestOf(GangOf({Machine("n1-standard-4", 4, 15)}), {}, std::vector{NodeOf("n1", 8, 1)});
  EXPECT_EQ(request.components.at(0).memory_mib, 0);
  EXPECT_EQ(request.components.at(0).cpus, 4);
}

TEST(Component, WithoutNodesIsAsItWasAsked) {
  const GangRequest request = RequestOf(GangOf({Machine("n1-standard-4", 4, 15)}), {}, {});
  EXPECT_EQ(request.components.at(0).cpus, 4);
  EXPECT_EQ(request.components.at(0).memory_mib, 15 * 1024);
}

TEST(Component, ARegionMayHaveAPartition) {
  SlurmSettings settings{.options = {.partition = "main"}, .regions = {{"us-central1", "gpu"}}};
  settings.machine_types["n1-highmem-8"].options.partition = "big";
  Gang gang = GangOf({Machine("n1-standard-4", 4, 15), Machine("n1-highmem-8", 8, 52)});
  gang.region = "us-central1";
  const GangRequest request = RequestOf(gang, settings, {});
  ASSERT_EQ(request.components.size(), 2U);
  EXPECT_EQ(request.components[0].options.partition, "gpu");
  EXPECT_EQ(request.components[1].options.partition, "big");
  gang.region = "europe-west1";
  EXPECT_EQ(RequestOf(gang, settings, {}).components[0].options.partition, "main");
}

TEST(Component, ThePartitionSaysHowLongItMayRun) {
  std::vector<Node> nodes = kBig;
  EXPECT_EQ(RequestOf(GangOf({Machine("n1-standard-4", 4, 15)}), {}, nodes).time_max, std::nullopt);
  for (Node& node : nodes) node.time_limit_minutes = 90;
  EXPECT_EQ(RequestOf(GangOf({Machine("n1-standard-4", 4, 15)}), {}, nodes).time_max,
            std::chrono::minutes(90));
}

TEST(Component, TakesTheOperatorsWordsForAMachineType) {
  SlurmSettings settings{.options = {.partition = "main", .account = "lab", .lines = {"--exclusive"}}};
  settings.machine_types["n1-standard-4"] = {
      .cpus = 2, .memory_mib = 500, .options = {.partition = "small", .lines = {"--licenses=x"}}};
  const Component component =
      RequestOf(GangOf({Machine("n1-standard-4", 4, 15)}), settings, {}).components.at(0);
  EXPECT_EQ(component.cpus, 2);
  EXPECT_EQ(component.memory_mib, 500);
  EXPECT_EQ(component.options,
            (Options{.partition = "small", .account = "lab", .lines = {"--exclusive", "--licenses=x"}}));
}

Gang::Replica WithGpus(AcceleratorConfig::Type type, int count) {
  Gang::Replica replica = Machine("n1-standard-4", 4, 15);
  replica.accelerator = type;
  replica.accelerator_count = count;
  return replica;
}

TEST(Component, GpusAreOfTheTypeThatIsThereElseOfAny) {
  const std::vector<Node> nodes{NodeOf("n1", 64, 256'000, {{.type = "tesla_t4", .count = 2}}),
                                NodeOf("n2", 64, 256'000, {{.type = "a100", .count = 8}})};
  const auto ask = [&nodes](AcceleratorConfig::Type type, int count, SlurmSettings settings = {}) {
    return RequestOf(GangOf({WithGpus(type, count)}), settings, nodes);
  };
  EXPECT_EQ(ask(AcceleratorConfig::NVIDIA_TESLA_T4, 2).components.at(0).gpu_type, "tesla_t4");
  EXPECT_EQ(ask(AcceleratorConfig::NVIDIA_TESLA_K80, 4).components.at(0).gpu_type, "");
  SlurmSettings mapped;
  mapped.accelerators["nvidia-tesla-k80"] = "a100";
  EXPECT_EQ(ask(AcceleratorConfig::NVIDIA_TESLA_K80, 4, mapped).components.at(0).gpu_type, "a100");
  EXPECT_EQ(ask(AcceleratorConfig::NVIDIA_TESLA_T4, 4).lack,
            "No node of the default partition has 4 GPUs of the type tesla_t4.");
}

TEST(Component, TpusAreNotThere) {
  EXPECT_EQ(RequestOf(GangOf({WithGpus(AcceleratorConfig::TPU_V2, 8)}), {}, kBig).lack,
            "Slurm gives no TPUs.");
}

TEST(Component, EqualNeighboursOfAnotherKindAreCountedOnce) {
  Gang::Replica master = Machine("n1-standard-8", 8, 30);
  Gang::Replica worker = master;
  worker.type = replica::v1::WORKER;
  Gang::Replica evaluator = Machine("n1-standard-4", 4, 15);
  const GangRequest request = RequestOf(GangOf({master, worker, worker, evaluator, worker}), {}, kBig);
  ASSERT_EQ(request.components.size(), 2U);
  EXPECT_THAT(request.components[0].replicas, ElementsAre(0, 1, 2, 4));
  EXPECT_THAT(request.components[1].replicas, ElementsAre(3));
}

}  // namespace
}  // namespace trainyard::slurm
