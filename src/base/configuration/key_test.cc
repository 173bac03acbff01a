#include "base/configuration/key.h"

#include <gtest/gtest.h>

namespace trainyard::configuration {
namespace {

using Words = std::vector<std::string>;

TEST(WordsOfTest, AreWhatTheCommandLineWouldSay) {
  const Key text{.name = "listen", .flag = "--listen", .metavar = "HOST:PORT"};
  const Key list{.name = "host-name", .flag = "--host-name", .kind = Key::Kind::kList, .metavar = "NAME"};
  const Key on{.name = "verbose", .flag = "--verbose", .kind = Key::Kind::kSwitch};
  const Key off{.name = "create", .flag = "--no-create", .kind = Key::Kind::kSwitch, .turns_off = true};
  EXPECT_EQ(WordsOf(text, {{{"-1"}}}), (Words{"--listen=-1"}));
  EXPECT_EQ(WordsOf(text, {{{""}}}), (Words{"--listen", ""}));
  EXPECT_EQ(WordsOf(list, {{{"a"}, {"b=c"}}}), (Words{"--host-name=a", "--host-name=b=c"}));
  EXPECT_EQ(WordsOf(list, {}), Words{});
  EXPECT_EQ(WordsOf(on, {{{"true"}}}), (Words{"--verbose"}));
  EXPECT_EQ(WordsOf(on, {{{"false"}}}), Words{});
  EXPECT_EQ(WordsOf(off, {{{"false"}}}), (Words{"--no-create"}));
  EXPECT_EQ(WordsOf(off, {{{"true"}}}), Words{});
}

}  // namespace
}  // namespace trainyard::configuration
