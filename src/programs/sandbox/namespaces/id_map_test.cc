#include "programs/sandbox/namespaces/id_map.h"

#include <gtest/gtest.h>

namespace trainyard::replica {
namespace {

TEST(FindSubordinateIdsTest, KnowsTheUserByNameOrNumber) {
  constexpr std::string_view kText =
      "alice:100000:65536\n# comment\nbob:nonsense:1\n1001:300000:10\nbob:200000:7\n:5:5\n";
  EXPECT_EQ(FindSubordinateIds(kText, "alice", 1), (IdRange{100'000, 65'536}));
  EXPECT_EQ(FindSubordinateIds(kText, "bob", 2), (IdRange{200'000, 7}));
  EXPECT_EQ(FindSubordinateIds(kText, "carol", 1001), (IdRange{300'000, 10}));
  EXPECT_EQ(FindSubordinateIds(kText, "", 9), std::nullopt);
  EXPECT_EQ(FindSubordinateIds("dave:1:0\ndave:1\n", "dave", 4), std::nullopt);
}

TEST(SameIdsTest, MapsEachRangeToItself) {
  EXPECT_EQ(SameIds("         0       1000          1\n"), "0 0 1\n");
  EXPECT_EQ(SameIds("         0       1000          1\n         1     100000      65536\n"),
            "0 0 1\n1 1 65536\n");
  EXPECT_EQ(SameIds(""), "");
}

}  // namespace
}  // namespace trainyard::replica
