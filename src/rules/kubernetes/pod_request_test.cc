#include "rules/kubernetes/pod_request.h"

#include <gmock/gmock.h>

namespace trainyard::kubernetes::pod_request_test {
namespace {

using ml::v1::AcceleratorConfig;
using placement::Gang;
using testing::ElementsAre;
using testing::IsEmpty;

Gang::Replica Machine(std::string type, double cpus, std::int64_t gib) {
  return {.machine_type = std::move(type), .cpus = cpus, .memory_bytes = gib << 30};
}

Gang::Replica WithGpus(AcceleratorConfig::Type type, int count) {
  Gang::Replica replica = Machine("n1-standard-4", 4, 15);
  replica.accelerator = type;
  replica.accelerator_count = count;
  return replica;
}

Gang GangOf(std::vector<Gang::Replica> replicas) {
  return {.uid = 1, .job_id = "j", .replicas = std::move(replicas)};
}

KubeNode NodeOf(std::string name, double cpus, std::int64_t memory_mib, std::int64_t gpus = 0) {
  KubeNode node{.name = std::move(name), .cpus = cpus, .memory_bytes = memory_mib << 20};
  if (gpus > 0) node.devices["nvidia.com/gpu"] = gpus;
  return node;
}

const std::vector<KubeNode> kBig{NodeOf("n1", 64, 256'000), NodeOf("n2", 64, 256'000)};

TEST(RequestOf, IsTheMachineTypeWhereItFits) {
  const PodsRequest request =
      RequestOf(GangOf({Machine("n1-standard-4", 4, 15), Machine("n1-standard-8", 8, 30),
                        Machine("n1-standard-8", 8, 30), Machine("f1-micro", 0.2, 1)}),
                {}, kBig);
  const SlotRequest eight{.cpu_millis = 8'000, .memory_mib = 30 * 1024};
  EXPECT_THAT(request.slots, ElementsAre(SlotRequest{.cpu_millis = 4'000, .memory_mib = 15 * 1024}, eight,
                                         eight, SlotRequest{.cpu_millis = 200, .memory_mib = 1024}));
  EXPECT_THAT(request.notes, IsEmpty());
  EXPECT_EQ(request.lack, "");
}

TEST(RequestOf, WithoutNodesIsAsItWasAsked) {
  const PodsRequest request = RequestOf(GangOf({Machine("n1-standard-4", 4, 15)}), {}, {});
  EXPECT_THAT(request.slots, ElementsAre(SlotRequest{.cpu_millis = 4'000, .memory_mib = 15 * 1024}));
  EXPECT_THAT(request.notes, IsEmpty());
}

TEST(RequestOf, IsReducedToTheLargestNodeWithANote) {
  std::vector<KubeNode> small{NodeOf("n1", 2, 1'000), NodeOf("n2", 3.92, 4'000),
                              NodeOf("broken", 64, 256'000)};
  small.back().is_usable = false;
  const Gang gang = GangOf({Machine("n1-standard-8", 8, 30), Machine("n1-standard-8", 8, 30)});
  const PodsRequest request = RequestOf(gang, {}, small);
  const SlotRequest fitted{.cpu_millis = 3'820, .memory_mib = 4'000 - 128};
  EXPECT_THAT(request.slots, ElementsAre(fitted, fitted));
  EXPECT_THAT(request.notes,
              ElementsAre("n1-standard-8 is 8 CPUs, 30720 MiB; no node of the cluster has as much "
                          "for one pod: 3.82 CPUs, 3872 MiB are requested."));
  EXPECT_EQ(request.lack, "");
  const PodsRequest strict = RequestOf(gang, {.sizes = Sizes::kStrict}, small);
  EXPECT_EQ(
      strict.lack,
      "n1-standard-8 is 8 CPUs, 30720 MiB, and the largest node of the cluster has 3.92 CPUs, 4000 MiB.");
  EXPECT_EQ(strict.remedy,
            "Use a smaller machine type, or map it to what the nodes have (kubernetes-machine).");
}

TEST(RequestOf, LeavesSomethingForDaemonSets) {
  const std::vector<KubeNode> nodes{NodeOf("n1", 4, 64'000)};
  const Gang gang = GangOf({Machine("n1-standard-4", 4, 15)});
  EXPECT_EQ(RequestOf(gang, {}, nodes).slots.front().cpu_millis, 3'900);
  const PodsRequest strict = RequestOf(gang, {.sizes = Sizes::kStrict}, nodes);
  EXPECT_EQ(strict.slots.front().cpu_millis, 4'000) << "strict is what was asked for";
  EXPECT_EQ(strict.lack, "");
}

TEST(RequestOf, AddsTheSelectorsOfTheSettings) {
  KubernetesSettings settings{.selector = {{"pool", "jobs"}, {"arch", "amd64"}}};
  settings.regions["us-central1"] = {{"pool", "gpu"}};
  settings.machine_types["n1-standard-4"] = {
      .cpu_millis = 1'500, .memory_mib = 500, .selector = {{"disk", "ssd"}, {"arch", "arm64"}}};
  settings.accelerators["nvidia-tesla-t4"] = {.resource = "nvidia.com/gpu",
                                              .selector = {{"nvidia.com/gpu.product", "Tesla-T4"}}};
  Gang gang = GangOf({WithGpus(AcceleratorConfig::NVIDIA_TESLA_T4, 2)});
  gang.region = "us-central1";
  SlotRequest slot{
      .cpu_millis = 1'500,
      .memory_mib = 500,
      .device_resource = "nvidia.com/gpu",
      .devices = 2,
      .selector = {
          {"arch", "arm64"}, {"disk", "ssd"}, {"nvidia.com/gpu.product", "Tesla-T4"}, {"pool", "gpu"}}};
  EXPECT_THAT(RequestOf(gang, settings, {}).slots, ElementsAre(slot));
  gang.any_gpu = true;
  gang.region = "europe-west1";
  slot.selector = {{"arch", "arm64"}, {"disk", "ssd"}, {"pool", "jobs"}};
  EXPECT_THAT(RequestOf(gang, settings, {}).slots, ElementsAre(slot)) << "the type of the GPU means nothing";
}

TEST(RequestOf, LooksAtTheNodesThatTheSelectorFits) {
  std::vector<KubeNode> nodes{NodeOf("large", 64, 256'000), NodeOf("small", 2.1, 2'128)};
  nodes[1].labels = {{"pool", "jobs"}};
  const Gang gang = GangOf({Machine("n1-standard-4", 4, 15)});
  const PodsRequest request = RequestOf(gang, {.selector = {{"pool", "jobs"}}}, nodes);
  EXPECT_THAT(request.slots, ElementsAre(SlotRequest{
                                 .cpu_millis = 2'000, .memory_mib = 2'000, .selector = {{"pool", "jobs"}}}));
  EXPECT_THAT(request.notes,
              ElementsAre("n1-standard-4 is 4 CPUs, 15360 MiB; no node of the nodes with pool=jobs "
                          "has as much for one pod: 2 CPUs, 2000 MiB are requested."));
  EXPECT_EQ(RequestOf(gang, {.selector = {{"pool", "none"}}}, nodes).slots.front().cpu_millis, 4'000)
      << "the scheduler says that no node fits";
}

TEST(RequestOf, OnlyPodsWithDevicesUseNodesThatAreReservedForThem) {
  std::vector<KubeNode> nodes{NodeOf("gpu", 64, 256'000, 8), NodeOf("cpu", 2.1, 2'128)};
  nodes[0].reserved_for = "nvidia.com/gpu";
  EXPECT_EQ(RequestOf(GangOf({Machine("n1-standard-4", 4, 15)}), {}, nodes).slots.front().cpu_millis, 2'000);
  EXPECT_EQ(RequestOf(GangOf({WithGpus(AcceleratorConfig::NVIDIA_TESLA_T4, 1)}), {}, nodes)
                .slots.front()
                .cpu_millis,
            4'000);
}

TEST(RequestOf, SaysWhichDevicesNoNodeHas) {
  const std::vector<KubeNode> nodes{NodeOf("n1", 64, 256'000, 2), NodeOf("n2", 64, 256'000)};
  const auto ask = [&nodes](AcceleratorConfig::Type type, int count,
                            const KubernetesSettings& settings = {}) {
    return RequestOf(GangOf({WithGpus(type, count)}), settings, nodes);
  };
  EXPECT_EQ(ask(AcceleratorConfig::NVIDIA_TESLA_K80, 2).lack, "");
  EXPECT_EQ(ask(AcceleratorConfig::NVIDIA_TESLA_K80, 4).lack,
            "No node of the cluster has 4 of nvidia.com/gpu.");
  KubernetesSettings rules;
  rules.accelerators["nvidia-tesla-k80"] = {.resource = "amd.com/gpu"};
  EXPECT_EQ(ask(AcceleratorConfig::NVIDIA_TESLA_K80, 4, rules).lack, "")
      << "the cluster may add such nodes: its scheduler says what is missing";
}

TEST(RequestOf, TpusAreOnlyThereByARule) {
  const Gang gang = GangOf({WithGpus(AcceleratorConfig::TPU_V2, 8)});
  const PodsRequest request = RequestOf(gang, {}, kBig);
  EXPECT_EQ(request.lack, "The Kubernetes cluster gives no TPUs.");
  EXPECT_NE(request.remedy, "");
  KubernetesSettings rules;
  rules.accelerators["tpu-v2"] = {.resource = "google.com/tpu"};
  EXPECT_EQ(RequestOf(gang, rules, kBig).lack, "");
  EXPECT_EQ(RequestOf(gang, rules, kBig).slots.front().device_resource, "google.com/tpu");
}

TEST(HasAccelerator, LooksAtNodesAndRules) {
  constexpr auto kT4 = AcceleratorConfig::NVIDIA_TESLA_T4;
  std::vector<KubeNode> nodes{NodeOf("n1", 64, 256'000, 2)};
  nodes[0].labels = {{"pool", "gpu"}};
  EXPECT_TRUE(HasAccelerator({}, {}, "r", kT4)) << "the nodes are not known";
  EXPECT_TRUE(HasAccelerator(nodes, {}, "r", kT4));
  EXPECT_FALSE(HasAccelerator(kBig, {}, "r", kT4));
  EXPECT_FALSE(HasAccelerator({}, {}, "r", AcceleratorConfig::TPU_V3));
  KubernetesSettings settings{.selector = {{"pool", "cpu"}}, .regions = {{"r", {{"pool", "gpu"}}}}};
  EXPECT_TRUE(HasAccelerator(nodes, settings, "r", kT4));
  EXPECT_FALSE(HasAccelerator(nodes, settings, "another", kT4));
  settings.machine_types["n1-standard-4"] = {.selector = {{"pool", "gpu"}}};
  EXPECT_TRUE(HasAccelerator(nodes, settings, "another", kT4)) << "on machines of one type";
  settings.accelerators["nvidia-tesla-p4"] = {};
  EXPECT_TRUE(HasAccelerator(kBig, settings, "r", AcceleratorConfig::NVIDIA_TESLA_P4));
  nodes[0].is_usable = false;
  EXPECT_FALSE(HasAccelerator(nodes, {}, "r", kT4));
}

}  // namespace
}  // namespace trainyard::kubernetes::pod_request_test
