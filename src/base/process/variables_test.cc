#include "base/process/variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace trainyard {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

TEST(Variables, AreOursWithChanges) {
  ASSERT_EQ(::setenv("TY_KEPT", "1", 1), 0);
  ASSERT_EQ(::setenv("TY_SET", "old", 1), 0);
  ASSERT_EQ(::setenv("TY_GONE", "2", 1), 0);
  const std::vector<std::string> lines = OwnVariables({{"TY_SET", "new"}, {"TY_GONE", std::nullopt}});
  EXPECT_THAT(lines, Contains("TY_KEPT=1"));
  EXPECT_THAT(lines, Contains("TY_SET=new"));
  EXPECT_THAT(lines, Not(Contains("TY_SET=old")));
  EXPECT_THAT(lines, Not(Contains("TY_GONE=2")));
  EXPECT_EQ(ReadVariables().at("TY_SET"), "old");
}

TEST(Variables, ChangesAlone) {
  EXPECT_THAT(PrintVariables({{"A", "x=y"}, {"B", std::nullopt}, {"C", ""}}), ElementsAre("A=x=y", "C="));
}

TEST(Pointers, EndWithNull) {
  std::vector<std::string> words{"a", ""};
  EXPECT_THAT(Pointers(words), ElementsAre(words[0].data(), words[1].data(), nullptr));
}

}  // namespace
}  // namespace trainyard
