#include "base/text/base64.h"

#include <gtest/gtest.h>

namespace trainyard::text {
namespace {

using std::literals::operator""sv;

struct Row {
  std::string_view bytes;
  std::string_view standard;
  std::string_view url;
  std::string_view bare;
};

constexpr Row kRows[] = {
    // RFC 4648 section 10.
    {"", "", "", ""},
    {"f", "Zg==", "Zg==", "Zg"},
    {"fo", "Zm8=", "Zm8=", "Zm8"},
    {"foo", "Zm9v", "Zm9v", "Zm9v"},
    {"foob", "Zm9vYg==", "Zm9vYg==", "Zm9vYg"},
    {"fooba", "Zm9vYmE=", "Zm9vYmE=", "Zm9vYmE"},
    {"foobar", "Zm9vYmFy", "Zm9vYmFy", "Zm9vYmFy"},
    {"\xfb\xff\xfe\0"sv, "+//+AA==", "-__-AA==", "-__-AA"},
};

TEST(Base64, HasThreeForms) {
  for (const Row& row : kRows) {
    EXPECT_EQ(Base64(row.bytes), row.standard);
    EXPECT_EQ(Base64(row.bytes, Base64Form::kUrl), row.url);
    EXPECT_EQ(Base64(row.bytes, Base64Form::kUrlBare), row.bare);
  }
}

TEST(FromBase64, ReadsThem) {
  for (const Row& row : kRows) {
    EXPECT_EQ(FromBase64(row.standard), row.bytes);
    EXPECT_EQ(FromBase64(row.url, Base64Form::kUrl), row.bytes);
    EXPECT_EQ(FromBase64(row.bare, Base64Form::kUrlBare), row.bytes);
  }
}

TEST(FromBase64, RefusesOtherAlphabetsAndPadding) {
  for (const std::string_view text : {"Z", "Zg", "Zg=", "Zg===", "Zg====", "=", "==", "====", "A===", "Z=g=",
                                      "Zm9v=", " Zg==", "Zg==\n", "Zm9v\n", "Zm 9", "-__-", "Zm9\xc3"}) {
    EXPECT_EQ(FromBase64(text), std::nullopt) << text;
  }
  for (const std::string_view text : {"Zg==", "Z", "Zm9vY", "+//+", "Zg\n"})
    EXPECT_EQ(FromBase64(text, Base64Form::kUrlBare), std::nullopt) << text;
  EXPECT_EQ(FromBase64("Zg", Base64Form::kUrl), std::nullopt);
  EXPECT_EQ(FromBase64("Zm9\0"sv), std::nullopt);
}

TEST(FromBase64, LeavesLeftOverBitsAlone) { EXPECT_EQ(FromBase64("Zh=="), "f"); }

TEST(Base64, EveryByteReturns) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    bytes += static_cast<char>(i);
    for (const Base64Form form : {Base64Form::kStandard, Base64Form::kUrl, Base64Form::kUrlBare})
      EXPECT_EQ(FromBase64(Base64(bytes, form), form), bytes);
  }
}

}  // namespace
}  // namespace trainyard::text
