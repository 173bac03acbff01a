#include "base/text/hex.h"

#include <gtest/gtest.h>

namespace trainyard::text {
namespace {

using std::literals::operator""sv;

TEST(Hex, HasTwoDigitsForEachByte) {
  EXPECT_EQ(Hex(""), "");
  EXPECT_EQ(Hex("\0\x0f\xa0\xff"sv), "000fa0ff");
  constexpr unsigned char kBytes[] = {0x12, 0xab};
  EXPECT_EQ(Hex(kBytes, 2), "12ab");
}

TEST(HexNumber, HasAsManyDigitsAsAsked) {
  EXPECT_EQ(HexNumber(0xab, 4), "00ab");
  EXPECT_EQ(HexNumber(0x1234abcd, 4), "abcd");
  EXPECT_EQ(HexNumber(~std::uint64_t{0}, 16), "ffffffffffffffff");
  EXPECT_EQ(HexNumber(7, 0), "");
}

TEST(HexValue, TakesBothCases) {
  constexpr std::string_view kLower = "0123456789abcdef";
  constexpr std::string_view kUpper = "0123456789ABCDEF";
  for (std::size_t i = 0; i < kLower.size(); ++i) {
    EXPECT_EQ(HexValue(kLower[i]), static_cast<int>(i));
    EXPECT_EQ(HexValue(kUpper[i]), static_cast<int>(i));
  }
  for (const char other : "/:@G`g \xff"sv) EXPECT_EQ(HexValue(other), -1) << other;
  EXPECT_EQ(HexValue('\0'), -1);
}

TEST(IsLowerHex, TakesOneCase) {
  EXPECT_TRUE(IsLowerHex("0123456789abcdef"));
  EXPECT_FALSE(IsLowerHex("0A"));
  EXPECT_FALSE(IsLowerHex("0g"));
}

}  // namespace
}  // namespace trainyard::text
