#include "rules/slurm/host_list.h"

#include <gtest/gtest.h>

namespace trainyard::slurm {
namespace {

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
