#include "rules/warm/learned.h"

#include <gtest/gtest.h>

namespace trainyard::warm {
namespace {

using Names = std::vector<std::string>;

TEST(ParseModules, TakesOnlyNamesOfModules) {
  EXPECT_EQ(ParseModules("numpy\nsklearn.svm\n_heapq"), (Names{"numpy", "sklearn.svm", "_heapq"}));
  EXPECT_EQ(ParseModules("a b\na,b\n../x\n.a\na..b\na.\n\xC3\xA9\n\nok\n"), Names{"ok"});
  EXPECT_EQ(ParseModules("antigravity\nthis\ntest.support\na.__main__\ntrainyard_program\nsite\n"), Names{});
  EXPECT_EQ(ParseModules(std::string(101, 'a') + "\n"), Names{});
  EXPECT_EQ(ParseModules("sklearn.experimental.enable_halving_search_cv\nsklearn.svm\n"),
            Names{"sklearn.svm"});
}

TEST(ParseModules, IsBounded) {
  std::string note;
  for (int i = 0; i < 5000; ++i) note += "m" + std::to_string(i) + "\n";
  EXPECT_EQ(ParseModules(note).size(), kModulesMax);
  EXPECT_EQ(Joined(ParseModules(note), {"more"}).size(), kModulesMax);
}

TEST(Joined, KeepsTheOrder) { EXPECT_EQ(Joined({"b", "a"}, {"c", "a", "d"}), (Names{"b", "a", "c", "d"})); }

TEST(PrintModules, IsTheInverse) { EXPECT_EQ(ParseModules(PrintModules({"b", "a"})), (Names{"b", "a"})); }

struct Row {
  const char* name;
  std::vector<MotherUse> mothers;
  Memory memory;
  std::vector<std::size_t> ends;
};

class MothersToEndRules : public testing::TestWithParam<Row> {};
TEST_P(MothersToEndRules, Decides) {
  EXPECT_EQ(MothersToEnd(GetParam().mothers, GetParam().memory), GetParam().ends);
}

using std::chrono::minutes;
INSTANTIATE_TEST_SUITE_P(
    Rules, MothersToEndRules,
    testing::Values(Row{"none", {}, {10, 100, 50}, {}}, Row{"fits", {{minutes(1), 10}}, {10, 100, 50}, {}},
                    Row{"idle", {{minutes(61), 1}, {minutes(1), 1}}, {10, 100, 50}, {0}},
                    Row{"least_used_goes", {{minutes(1), 6}, {minutes(2), 6}}, {10, 100, 50}, {1}},
                    Row{"too_large", {{minutes(1), 11}}, {10, 100, 50}, {0}},
                    Row{"machine_is_short", {{minutes(1), 1}, {minutes(2), 1}}, {10, 100, 4}, {1, 0}}),
    [](const auto& row) { return row.param.name; });

TEST(IsShort, OfMemoryIfLessThanATwentiethIsAvailable) {
  EXPECT_TRUE(IsShort({.total = 100, .available = 4}));
  EXPECT_FALSE(IsShort({.total = 100, .available = 5}));
  EXPECT_FALSE(IsShort({})) << "not known";
}

}  // namespace
}  // namespace trainyard::warm
