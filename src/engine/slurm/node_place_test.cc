#include "engine/slurm/slot_claims.h"

#include <gtest/gtest.h>

namespace trainyard::engine {
namespace {

using boost::asio::ip::address;
using boost::asio::ip::make_address;

struct Row {
  const char* name;
  std::vector<const char*> node;
  const char* from;
  bool is_place;
};
class NodePlace : public testing::TestWithParam<Row> {};

/// This machine has the address 10.0.0.1.
TEST_P(NodePlace, IsOneOfTheNodesAddresses) {
  std::vector<address> node;
  for (const char* one : GetParam().node) node.push_back(make_address(one));
  const auto is_own = [](const address& one) { return one.is_loopback() || one == make_address("10.0.0.1"); };
  EXPECT_EQ(IsPlaceOf(node, make_address(GetParam().from), is_own), GetParam().is_place);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, NodePlace,
    testing::Values(Row{"the_address", {"10.0.0.7"}, "10.0.0.7", true},
                    Row{"another", {"10.0.0.7"}, "10.0.0.8", false},
                    Row{"one_of_several", {"10.0.0.7", "10.1.0.7"}, "10.1.0.7", true},
                    Row{"no_name", {}, "10.0.0.7", false},
                    Row{"no_name_on_this_machine", {}, "127.0.0.1", false},
                    Row{"mapped", {"10.0.0.7"}, "::ffff:10.0.0.7", true},
                    Row{"with_an_interface", {"fe80::7"}, "fe80::7%1", true},
                    Row{"this_machine", {"127.0.1.1"}, "127.0.0.1", true},
                    Row{"this_machine_by_its_network", {"10.0.0.1"}, "127.0.0.1", true},
                    Row{"this_machine_for_another_node", {"10.0.0.7"}, "127.0.0.1", false},
                    Row{"another_for_this_machine", {"127.0.0.1"}, "10.0.0.7", false},
                    Row{"unknown", {"10.0.0.7"}, "0.0.0.0", false}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::engine
