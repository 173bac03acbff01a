#include "base/wire/yaml.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::wire {
namespace {

std::string Repeated(std::string_view text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

/// Ten times ten times ten...
std::string Laughs(int levels) {
  std::string text = "a0: &a0 ha\n";
  for (int level = 1; level <= levels; ++level) {
    const std::string below = "*a" + std::to_string(level - 1);
    text += "a" + std::to_string(level) + ": &a" + std::to_string(level) + " [" + below +
            Repeated("," + below, 9) + "]\n";
  }
  return text;
}

/// Each alias is one level deeper than the previous one: 3 lines of text per level, no nesting in the text.
std::string Tower(int levels) {
  std::string text = "a0: &a0 x\n";
  for (int level = 1; level <= levels; ++level)
    text += "a" + std::to_string(level) + ": &a" + std::to_string(level) + " [*a" +
            std::to_string(level - 1) + "]\n";
  return text;
}

struct Row {
  const char* name;
  std::string text;
  std::string reason;
};

class YamlRefused : public testing::TestWithParam<Row> {};
TEST_P(YamlRefused, WithLineAndReason) {
  const Result<YAML::Node> loaded = LoadYaml(GetParam().text);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error(), InvalidArgument("", GetParam().reason));
}
INSTANTIATE_TEST_SUITE_P(
    Rules, YamlRefused,
    testing::Values(
        Row{"self_in_list", "a: &x [*x]", "line 1, column 8: an alias stands within what it refers to"},
        Row{"self_in_map", "a: &x\n  b: *x", "line 2, column 6: an alias stands within what it refers to"},
        Row{"self_as_key", "&x {*x : 1}", "line 1, column 5: an alias stands within what it refers to"},
        Row{"merge_of_itself", "a: &x\n  <<: *x",
            "line 2, column 7: an alias stands within what it refers to"},
        Row{"laughs", Laughs(9),
            "line 6, column 38: the document has more than 100000 values, with aliases written out"},
        Row{"tower", Tower(120), "line 101, column 14: lists and mappings are nested more than 100 deep"},
        Row{"flow_depth", Repeated("[", 100'000),
            "line 1, column 51: lists and mappings are nested more than 100 deep"},
        Row{"block_depth", Repeated("- ", 100'000),
            "line 1, column 201: lists and mappings are nested more than 100 deep"},
        Row{"many", "[" + Repeated("1,", 200'000) + "]",
            "line 1, column 200000: the document has more than 100000 values, with aliases written out"},
        Row{"long_text", "\na: " + Repeated("x", kYamlScalarBytesMax + 1),
            "line 2, column 4: a text has more than 1 MiB"},
        Row{"large", Repeated("# comment\n", kYamlBytesMax / 10 + 1), "the document has more than 4 MiB"},
        Row{"broken", "a: [1", "line 1, column 1: end of sequence flow not found"}),
    [](const auto& row) { return row.param.name; });

TEST(LoadYamlTest, AllowsWhatConfigurationsHave) {
  for (const std::string& text : {std::string(), std::string("a: &x [1, 2]\nb: *x\nc: {<<: {d: 1}, e: *x}\n"),
                                  Laughs(3), Tower(90), Repeated("[", 100) + Repeated("]", 100)})
    EXPECT_TRUE(LoadYaml(text)) << text;
  EXPECT_EQ(LoadYaml("a: &x [1, 2]\nb: *x")->operator[]("b").size(), 2U);
  EXPECT_TRUE(LoadYaml("")->IsNull());
}

TEST(LoadOnlyDocumentTest, RefusesWhatIsSilentElsewhere) {
  const auto refused = [](std::string_view text) {
    const auto loaded = LoadOnlyDocument(text);
    return loaded ? YamlMistake{.reason = "loaded"} : loaded.error();
  };
  EXPECT_EQ(refused("a: 1\n---\nb: 2\n"), (YamlMistake{2, 1, "a second document begins here"}));
  EXPECT_EQ(refused("a: 1\n...\nb: 2\n"), (YamlMistake{3, 1, "a second document begins here"}));
  EXPECT_EQ(refused("a: &x 1\nb: *x\n"),
            (YamlMistake{2, 4, "aliases (*NAME) are not read here; write the value out"}));
  EXPECT_EQ(refused("a: &x [*x]"), (YamlMistake{1, 8, "an alias stands within what it refers to"}));
  EXPECT_EQ(refused("a: [1"), (YamlMistake{1, 1, "end of sequence flow not found"}));
  EXPECT_EQ(refused(Repeated("# comment\n", kYamlBytesMax / 10 + 1)),
            (YamlMistake{0, 0, "the document has more than 4 MiB"}));
  for (const char* text : {"", "# nothing\n", "---\na: 1\n", "a: 1\n...\n"})
    EXPECT_TRUE(LoadOnlyDocument(text)) << text;
}

}  // namespace
}  // namespace trainyard::wire
