#include <gmock/gmock.h>

#include "rules/kubernetes/pod_request.h"

namespace trainyard::kubernetes::nodes_test {
namespace {

using testing::ElementsAre;

struct Row {
  const char* text;
  std::optional<double> value;
};
class Quantity : public testing::TestWithParam<Row> {};
TEST_P(Quantity, IsANumber) {
  const std::optional<double> value = ParseQuantity(GetParam().text);
  ASSERT_EQ(value.has_value(), GetParam().value.has_value()) << GetParam().text;
  if (value) EXPECT_DOUBLE_EQ(*value, *GetParam().value) << GetParam().text;
}
INSTANTIATE_TEST_SUITE_P(
    Texts, Quantity,
    testing::Values(Row{"4", 4}, Row{"1500m", 1.5}, Row{"0.5", 0.5}, Row{".5", 0.5}, Row{"+2", 2},
                    Row{"-1", -1}, Row{"100n", 1e-7}, Row{"2u", 2e-6}, Row{"16Gi", 17179869184.0},
                    Row{"3996Mi", 4190109696.0}, Row{"16393244Ki", 16393244.0 * 1024},
                    Row{"1Ti", 1099511627776.0}, Row{"128k", 128000}, Row{"4000M", 4e9}, Row{"1G", 1e9},
                    Row{"1E", 1e18}, Row{"12e6", 12e6}, Row{"12E6", 12e6}, Row{"1e+3", 1e3}, Row{"5e-1", 0.5},
                    Row{"", std::nullopt}, Row{"m", std::nullopt}, Row{"4 Gi", std::nullopt},
                    Row{"4gi", std::nullopt}, Row{"4GiB", std::nullopt}, Row{"inf", std::nullopt},
                    Row{"nan", std::nullopt}, Row{"-inf", std::nullopt}, Row{"1e", std::nullopt},
                    Row{"1e999999999", std::nullopt}, Row{"0x10", std::nullopt}, Row{"-", std::nullopt},
                    Row{".", std::nullopt}));

TEST(ParseNodes, ReadsWhatPodsMayHave) {
  const Result<std::vector<KubeNode>> nodes = ParseNodes(R"({"kind": "NodeList", "items": [
    {"metadata": {"name": "n1", "labels": {"zone": "a", "nvidia.com/gpu.product": "T4"}},
     "spec": {"taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]},
     "status": {"capacity": {"cpu": "8"},
       "allocatable": {"cpu": "7910m", "memory": "16000Ki", "pods": "110", "hugepages-2Mi": "0",
                       "ephemeral-storage": "100", "nvidia.com/gpu": "2", "amd.com/gpu": "0"},
       "conditions": [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": "True"}]}}]})");
  ASSERT_TRUE(nodes) << nodes.error().message;
  EXPECT_THAT(*nodes, ElementsAre(KubeNode{.name = "n1",
                                           .cpus = 7.91,
                                           .memory_bytes = 16'384'000,
                                           .devices = {{"nvidia.com/gpu", 2}},
                                           .labels = {{"nvidia.com/gpu.product", "T4"}, {"zone", "a"}},
                                           .reserved_for = "nvidia.com/gpu"}));
}

bool IsUsable(const std::string& spec, const std::string& ready) {
  const std::string text = R"({"items":[{"metadata":{"name":"n"},"spec":)" + spec +
                           R"(,"status":{"conditions":[{"type":"Ready","status":")" + ready + R"("}]}}]})";
  const Result<std::vector<KubeNode>> nodes = ParseNodes(text);
  return nodes && nodes->size() == 1 && nodes->front().is_usable;
}

TEST(ParseNodes, KnowsWhereNoPodOfOursMayGo) {
  EXPECT_TRUE(IsUsable("{}", "True"));
  EXPECT_FALSE(IsUsable("{}", "False"));
  EXPECT_FALSE(IsUsable("{}", "Unknown"));
  EXPECT_FALSE(IsUsable(R"({"unschedulable":true})", "True"));
  EXPECT_FALSE(IsUsable(
      R"({"taints":[{"key":"node-role.kubernetes.io/control-plane","effect":"NoSchedule"}]})", "True"));
  EXPECT_FALSE(IsUsable(R"({"taints":[{"key":"team","value":"a","effect":"NoExecute"}]})", "True"));
  EXPECT_TRUE(IsUsable(R"({"taints":[{"key":"team","value":"a","effect":"PreferNoSchedule"}]})", "True"));
}

TEST(ParseNodes, AcceptsNoNodesAndNodesOfAnotherForm) {
  EXPECT_THAT(ParseNodes(R"({"items":[]})").value_or(std::vector{KubeNode{}}), ElementsAre());
  EXPECT_THAT(
      ParseNodes(
          R"({"items":[7,{},{"metadata":{"name":"n"},"status":{"allocatable":{"cpu":4,"memory":"x"}}}]})")
          .value_or(std::vector<KubeNode>{}),
      ElementsAre(KubeNode{.name = "n", .cpus = 4, .is_usable = false}));
}

class NoNodeList : public testing::TestWithParam<const char*> {};
TEST_P(NoNodeList, IsAnError) {
  const Result<std::vector<KubeNode>> nodes = ParseNodes(GetParam());
  ASSERT_FALSE(nodes);
  EXPECT_EQ(nodes.error().code, Code::kDataLoss);
}
INSTANTIATE_TEST_SUITE_P(Texts, NoNodeList,
                         testing::Values("", "[]", "{}", R"({"items":{}})",
                                         R"({"kind":"Status","message":"forbidden"})"));

}  // namespace
}  // namespace trainyard::kubernetes::nodes_test
