#include "rules/slurm/node_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::slurm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kHeader = "PARTITION|NODELIST|CPUS|MEMORY|TIMELIMIT|AVAIL|STATE|NODE_ADDR|GRES\n";

TEST(NodeList, ReadsWhatSinfoPrints) {
  const std::string printed = std::string(kHeader) +
                              "main*|node1|4|4000|infinite|up|idle|10.0.0.1|gpu:nvidia_tesla_t4:2(S:0-1)\n"
                              "night|node2|64|257000|2-12:00:00|inact|down*|n2.lab|(null)\n";
  EXPECT_THAT(ParseNodeList(printed).value(),
              ElementsAre(Node{.partition = "main",
                               .default_partition = true,
                               .partition_up = true,
                               .name = "node1",
                               .cpus = 4,
                               .memory_mib = 4000,
                               .state = "idle",
                               .address = "10.0.0.1",
                               .gpus = {{.type = "nvidia_tesla_t4", .count = 2}}},
                          Node{.partition = "night",
                               .time_limit_minutes = 60 * 60,
                               .name = "node2",
                               .cpus = 64,
                               .memory_mib = 257000,
                               .state = "down*",
                               .address = "n2.lab"}));
}

TEST(NodeList, CountsGpusAmongOtherResources) {
  const auto gpus_of = [](const std::string& gres) {
    return ParseNodeList(std::string(kHeader) + "main|n|1|1|infinite|up|idle|n|" + gres).value().at(0).gpus;
  };
  EXPECT_THAT(gpus_of("gpu:4"), ElementsAre(NodeGpus{.type = "", .count = 4}));
  EXPECT_THAT(gpus_of("nic:mlx:1,gpu:a100:2(S:0,1),gpu:t4:1"),
              ElementsAre(NodeGpus{.type = "a100", .count = 2}, NodeGpus{.type = "t4", .count = 1}));
  EXPECT_THAT(gpus_of("gpu:none:x,gpu:0"), ElementsAre());
}

TEST(NodeList, RefusesWhatIsNone) {
  EXPECT_FALSE(ParseNodeList(""));
  EXPECT_FALSE(ParseNodeList("sinfo: error"));
  EXPECT_FALSE(ParseNodeList(std::string(kHeader) + "main|node1|many|4000|infinite|up|idle|n|(null)"));
}

TEST(NodeList, TimeLimits) {
  EXPECT_EQ(ParseTimeLimitMinutes("infinite"), 0);
  EXPECT_EQ(ParseTimeLimitMinutes("30:00"), 30);
  EXPECT_EQ(ParseTimeLimitMinutes("1:30:00"), 90);
  EXPECT_EQ(ParseTimeLimitMinutes("7-00:00:00"), 7 * 24 * 60);
  EXPECT_EQ(ParseTimeLimitMinutes("soon"), -1);
}

TEST(NodeList, BrokenNodesAreNoRoom) {
  for (const char* state : {"down*", "drain", "drng", "fail", "inval", "unk*"})
    EXPECT_FALSE(IsUsable({.state = state})) << state;
  for (const char* state : {"idle", "mix", "alloc", "idle~", "comp", "resv"})
    EXPECT_TRUE(IsUsable({.state = state})) << state;
}

TEST(NodeList, OneNodeStandsForAllOfItsKind) {
  const Node small{.partition = "main", .name = "n1", .cpus = 4, .memory_mib = 4'000, .state = "idle"};
  const auto changed = [&small](std::string name, auto change) {
    Node node = small;
    node.name = std::move(name);
    change(node);
    return node;
  };
  const Node busy = changed("n2", [](Node& node) { node.state = "alloc", node.address = "10.0.0.2"; });
  const Node broken = changed("n3", [](Node& node) { node.state = "down*", node.cpus = 64; });
  const Node larger = changed("n4", [](Node& node) { node.memory_mib = 8'000; });
  const Node accelerated = changed("n5", [](Node& node) { node.gpus = {{.type = "t4", .count = 1}}; });
  const Node elsewhere = changed("n6", [](Node& node) { node.partition = "night"; });
  EXPECT_THAT(KindsOf(std::vector{small, busy, broken, larger, accelerated, elsewhere, larger}),
              ElementsAre(small, larger, accelerated, elsewhere));
  EXPECT_THAT(KindsOf(std::vector{broken}), IsEmpty());
}

struct Row {
  const char* name;
  const char* list;
  const char* node;
  bool named;
};
class HostList : public testing::TestWithParam<Row> {};
TEST_P(HostList, NamesNode) { EXPECT_EQ(NamesNode(GetParam().list, GetParam().node), GetParam().named); }
INSTANTIATE_TEST_SUITE_P(
    Rules, HostList,
    testing::Values(
        Row{"one", "node1", "node1", true}, Row{"another", "node1", "node11", false},
        Row{"several", "login,node1", "node1", true}, Row{"range", "node[1-3]", "node2", true},
        Row{"after_range", "node[1-3]", "node4", false}, Row{"two_digits", "node[1-12]", "node12", true},
        Row{"ranges", "node[1-3,7]", "node7", true},
        Row{"list_after_range", "node[1-3,7],gpu4", "gpu4", true}, Row{"padded", "n[001-010]", "n007", true},
        Row{"padded_otherwise", "n[001-010]", "n7", false}, Row{"not_padded", "n[1-10]", "n07", false},
        Row{"zero", "n[0-3]", "n0", true}, Row{"suffix", "n[1-2]-ib", "n2-ib", true},
        Row{"two_dimensions", "r[0-1]n[1-2]", "r1n2", true},
        Row{"outside_of_the_second", "r[0-1]n[1-2]", "r1n3", false},
        Row{"digits_behind_digits", "n1[1-2]", "n12", true}, Row{"empty", "", "node1", false},
        Row{"broken", "node[1-", "node1", false}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::slurm
