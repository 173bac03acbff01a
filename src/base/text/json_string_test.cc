#include "base/text/json_string.h"

#include <gtest/gtest.h>

namespace trainyard::text {
namespace {

using std::literals::operator""sv;

TEST(QuoteJson, EscapesWhatJsonDoesNotAllow) {
  EXPECT_EQ(QuoteJson(""), R"("")");
  EXPECT_EQ(QuoteJson("a\"b\\c/"), R"("a\"b\\c/")");
  EXPECT_EQ(QuoteJson("\b\f\n\r\t"), R"("\b\f\n\r\t")");
  EXPECT_EQ(QuoteJson("\0\x01\x0b\x1f\x7f"sv), "\"\\u0000\\u0001\\u000b\\u001f\x7f\"");
  EXPECT_EQ(QuoteJson("\xc3\xa9\xff"), "\"\xc3\xa9\xff\"");
}

TEST(QuoteJson, PrintsControlsByTheirCode) {
  EXPECT_EQ(QuoteJson("\n\"\\", JsonControls::kCode), R"("\u000a\"\\")");
}

TEST(JsonCode, HasFourDigits) { EXPECT_EQ(JsonCode(0xD83D), "\\ud83d"); }

}  // namespace
}  // namespace trainyard::text
