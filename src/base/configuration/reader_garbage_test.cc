#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/configuration/reader.h"

namespace trainyard::configuration {
namespace {

constexpr int kTexts = 20'000;

const std::vector<Key>& Keys() {
  static const std::vector<Key> kKeys{
      {.name = "a", .flag = "--a", .kind = Key::Kind::kList, .metavar = "NAME=PATH"},
      {.name = "b", .flag = "--b", .metavar = "TYPE=N,..."},
      {.name = "c", .flag = "--no-c", .kind = Key::Kind::kSwitch, .turns_off = true},
      {.name = "d", .flag = "--d", .metavar = "HOST:PORT"}};
  return kKeys;
}

/// Random sequences of tokens that are special in YAML; half of them after a key, so that many can be read.
std::string Garbage(std::mt19937& random) {
  static const std::vector<std::string> kPieces{"a",
                                                "b",
                                                "c",
                                                "d",
                                                ": ",
                                                ":",
                                                "\n",
                                                "\n  ",
                                                "- ",
                                                "[",
                                                "]",
                                                "{",
                                                "}",
                                                ",",
                                                "&x ",
                                                "*x",
                                                "<<",
                                                "!!str ",
                                                "!t ",
                                                "|",
                                                ">",
                                                "'",
                                                "\"",
                                                "\\",
                                                "#",
                                                " #",
                                                "%",
                                                "---\n",
                                                "...\n",
                                                "?",
                                                " ",
                                                "\t",
                                                "yes",
                                                "null",
                                                "~",
                                                "1",
                                                "=",
                                                "/p",
                                                "\r\n",
                                                "\x04",
                                                "\xff",
                                                "\xc3\xa4",
                                                std::string(1, '\0'),
                                                "\x7f",
                                                "@",
                                                "`"};
  std::uniform_int_distribution<std::size_t> piece(0, kPieces.size() - 1);
  std::uniform_int_distribution<int> length(0, 24);
  std::string text = random() % 2 == 0 ? "d: " : "";
  for (int left = length(random); left > 0; --left) text += kPieces[piece(random)];
  return text;
}

TEST(ReaderGarbage, IsReadOrRefusedWithItsLine) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  int read = 0;
  for (int i = 0; i < kTexts; ++i) {
    const std::string text = Garbage(random);
    const Reading reading = Read(text, Keys());
    const auto lines = static_cast<int>(std::ranges::count(text, '\n')) + 2;  // an end of file is a line, too
    for (const Mistake& mistake : reading.mistakes) {
      ASSERT_FALSE(mistake.reason.empty()) << text;
      ASSERT_LE(mistake.line, lines) << text;
    }
    std::set<std::string> names;
    for (const Setting& setting : reading.settings) {
      ++read;
      const Key* key = FindKey(Keys(), setting.key);
      ASSERT_NE(key, nullptr) << text;
      ASSERT_TRUE(names.insert(setting.key).second) << text;
      ASSERT_GT(setting.line, 0) << text;
      if (key->kind != Key::Kind::kList) ASSERT_EQ(setting.values.size(), 1U) << text;
      for (const Value& value : setting.values) ASSERT_GE(value.line, setting.line) << text;
    }
  }
  EXPECT_GT(read, 0) << "the pieces never made a setting";
}

}  // namespace
}  // namespace trainyard::configuration
