#include "stores/store/page_token.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>

namespace trainyard::store {
namespace {

constexpr PageTokenKey kKey = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr std::array<std::int64_t, 2> kPosition = {-7, std::numeric_limits<std::int64_t>::max()};
const Error kRefused = InvalidArgument("page_token", "The page token is not valid for this request");

TEST(PageToken, OpensWhatItSealed) {
  const std::string token = SealPageToken(kKey, "jobs projects/p", kPosition);
  EXPECT_EQ(token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
            std::string::npos);
  std::array<std::int64_t, 2> position{};
  ASSERT_TRUE(OpenPageToken(kKey, "jobs projects/p", token, position));
  EXPECT_EQ(position, kPosition);
}

TEST(PageToken, RefusesEveryChangedLetter) {
  const std::string token = SealPageToken(kKey, "c", kPosition);
  std::array<std::int64_t, 2> position{};
  for (std::size_t i = 0; i < token.size(); ++i) {
    for (const char letter : {'A', 'B', '_', '=', '\0'}) {
      std::string changed = token;
      if (changed[i] == letter) continue;
      changed[i] = letter;
      EXPECT_EQ(OpenPageToken(kKey, "c", changed, position), Status(std::unexpected(kRefused))) << i;
    }
  }
}

TEST(PageToken, RefusesOtherListsKeysAndShapes) {
  const std::string token = SealPageToken(kKey, "c", kPosition);
  std::array<std::int64_t, 2> two{};
  std::array<std::int64_t, 1> one{};
  PageTokenKey other = kKey;
  other[15] = 0;
  EXPECT_FALSE(OpenPageToken(other, "c", token, two));
  EXPECT_FALSE(OpenPageToken(kKey, "d", token, two));
  EXPECT_FALSE(OpenPageToken(kKey, "", token, two));
  EXPECT_FALSE(OpenPageToken(kKey, "c", token, one));
  EXPECT_FALSE(OpenPageToken(kKey, "c", token + "A", two));
  EXPECT_FALSE(OpenPageToken(kKey, "c", "", two));
}

TEST(PageTokenKey, IsSixteenBytes) {
  EXPECT_EQ(ParsePageTokenKey(std::string(16, '\1')).value()[3], 1);
  EXPECT_EQ(ParsePageTokenKey("short").error().code, Code::kDataLoss);
}

}  // namespace
}  // namespace trainyard::store
