#include "stores/identity/token_text.h"

#include <gtest/gtest.h>

#include <set>

#include "base/async/random_bytes.h"

namespace trainyard::identity {
namespace {

TEST(TokenText, IsWrittenAsPromised) {
  TokenSecret lowest{};
  TokenSecret highest{};
  highest.fill(0xFF);
  for (const TokenSecret& secret : {lowest, highest, RandomBytes<TokenSecret>()}) {
    const std::string text = PrintToken(secret);
    EXPECT_EQ(text.size(), kTokenTextBytes);
    EXPECT_TRUE(text.starts_with("ty_"));
    EXPECT_TRUE(IsTokenText(text)) << text;
  }
  EXPECT_EQ(PrintToken(lowest).substr(3, 43), std::string(43, '0'));
}

TEST(TokenText, EachSecretHasItsOwnText) {
  std::set<std::string> texts;
  TokenSecret secret{};
  for (std::size_t byte = 0; byte < secret.size(); ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      TokenSecret one{};
      one[byte] = static_cast<std::uint8_t>(1 << bit);
      texts.insert(PrintToken(one));
    }
  }
  EXPECT_EQ(texts.size(), 256U);
}

TEST(TokenText, NoticesEachMistypedCharacter) {
  const std::string text = PrintToken(RandomBytes<TokenSecret>());
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string typo = text;
    typo[i] = typo[i] == 'a' ? 'b' : 'a';
    EXPECT_FALSE(IsTokenText(typo)) << i;
  }
  EXPECT_FALSE(IsTokenText(text.substr(1)));
  EXPECT_FALSE(IsTokenText(text + "a"));
  EXPECT_FALSE(IsTokenText(""));
  EXPECT_FALSE(IsTokenText("ty_"));
}

TEST(TokenText, HashIsSha256) {
  const TokenHash hash = HashOf("abc");
  EXPECT_EQ(hash[0], 0xBA);
  EXPECT_EQ(hash[31], 0xAD);
}

}  // namespace
}  // namespace trainyard::identity
