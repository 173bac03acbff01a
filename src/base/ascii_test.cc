#include "base/ascii.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(Ascii, OnlyItsLettersHaveCases) {
  EXPECT_EQ(ToLower("AZ[@`az\xC3\x84"), "az[@`az\xC3\x84");
  EXPECT_TRUE(EqualsIgnoringCase("Content-Length", "content-LENGTH"));
  EXPECT_FALSE(EqualsIgnoringCase("a", "ab"));
  EXPECT_FALSE(EqualsIgnoringCase("@", "`"));
}

TEST(Ascii, TrimsBothEnds) {
  EXPECT_EQ(TrimSpace(" \t a b\r\n"), "a b");
  EXPECT_EQ(TrimSpace("a"), "a");
  EXPECT_EQ(TrimSpace(" \n"), "");
  EXPECT_EQ(TrimSpace(""), "");
}

}  // namespace
}  // namespace trainyard
