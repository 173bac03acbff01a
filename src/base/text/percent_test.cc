#include "base/text/percent.h"

#include <gtest/gtest.h>

namespace trainyard::text {
namespace {

using std::literals::operator""sv;

struct Row {
  std::string_view plain;
  std::string_view encoded;
};

constexpr Row kRows[] = {
    {"", ""},
    {"AZaz09-._~", "AZaz09-._~"},
    {"a b/c", "a%20b%2Fc"},
    {"100%", "100%25"},
    {"\x01+&=?\xc3\xa9\xff", "%01%2B%26%3D%3F%C3%A9%FF"},
};

TEST(Percent, EncodesAndDecodes) {
  for (const Row& row : kRows) {
    EXPECT_EQ(PercentEncode(row.plain), row.encoded);
    EXPECT_EQ(PercentDecode(row.encoded), row.plain);
  }
}

TEST(PercentEncode, EncodesNulAndKeepsWhatItIsTold) {
  EXPECT_EQ(PercentEncode("a\0"sv), "a%00");
  EXPECT_EQ(PercentEncode("a/b:c", "/"), "a/b%3Ac");
}

TEST(Percent, EveryByteComesBack) {
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  EXPECT_EQ(PercentDecode(PercentEncode(all)), all);
}

TEST(PercentDecode, TakesBothCasesAndNoPlus) { EXPECT_EQ(PercentDecode("%c3%A9+/"), "\xc3\xa9+/"); }

TEST(PercentDecode, RefusesWhatIsNotEncoded) {
  for (const std::string_view text : {"%", "a%2", "%2g", "%g2", "%%20", "%00", "a%"})
    EXPECT_EQ(PercentDecode(text), std::nullopt) << text;
}

}  // namespace
}  // namespace trainyard::text
