#include "base/configuration/effective_file.h"

#include <gtest/gtest.h>

#include "base/configuration/reader.h"

namespace trainyard::configuration {
namespace {

using Kind = Key::Kind;
const Key kText{.name = "listen", .flag = "--listen", .metavar = "HOST:PORT"};
const Key kList{.name = "host-name", .flag = "--host-name", .kind = Kind::kList, .metavar = "NAME"};
const Key kSwitch{.name = "verbose", .flag = "--verbose", .kind = Kind::kSwitch};

TEST(PrintEffectiveTest, SaysWhereEachIsFrom) {
  const std::vector<Effective> settings{
      {.key = kText, .values = {}, .source = "default"},
      {.key = kText, .values = {{"127.0.0.1:0"}}, .source = "flag"},
      {.key = kList, .values = {}, .source = "default"},
      {.key = kList, .values = {{"a"}, {"b"}}, .source = "/etc/a\nb.yaml:3"},
      {.key = kSwitch, .values = {{"true"}}, .source = "/etc/c.yaml:12"}};
  EXPECT_EQ(PrintEffective(settings),
            "# The settings of `trainyard serve`, and where each comes from.\n"
            "# listen: HOST:PORT  # not set\n"
            "listen: 127.0.0.1:0  # flag\n"
            "host-name: []  # default\n"
            "host-name:  # /etc/a\\nb.yaml:3\n"
            "  - a\n"
            "  - b\n"
            "verbose: true  # /etc/c.yaml:12\n");
}

TEST(PrintEffectiveTest, IsReadAsTheSame) {
  for (const char* text : {"",     "a",  "null", "~",        "yes", "2.10", "a: b",
                           "a #b", "'",  "\"",   "\\",       "- a", "-1",   "[a]",
                           "*a",   "a:", "&a",   "!a",       "%a",  "@a",   "`",
                           "|",    ">",  "{a}",  "\xc3\xa4", " a ", "a\tb", "gcr.io/p/*=a:1,b=2"}) {
    if (std::string_view(text).contains('\t')) continue;  // a control character is not a valid value
    const std::vector<Key> keys{kText, kList};
    const std::vector<Effective> settings{{.key = kText, .values = {{text}}, .source = "flag"},
                                          {.key = kList, .values = {{text}, {text}}, .source = "flag"}};
    const Reading reading = Read(PrintEffective(settings), keys);
    for (const Mistake& mistake : reading.mistakes) ADD_FAILURE() << text << " " << Describe(mistake, "f");
    ASSERT_EQ(reading.settings.size(), 2U) << text;
    EXPECT_EQ(reading.settings[0].values[0].text, text);
    EXPECT_EQ(reading.settings[1].values[1].text, text);
  }
}

}  // namespace
}  // namespace trainyard::configuration
