#include <gtest/gtest.h>

#include "cli/gcloud/yaml.h"

namespace trainyard::cli {
namespace {

struct Row {
  const char* name;
  const char* yaml;
  const char* json;  ///< compact; empty: refused
};

class ReadYaml : public testing::TestWithParam<Row> {};

TEST_P(ReadYaml, AsYaml11) {
  Result<Json> value = ParseYaml(GetParam().yaml);
  EXPECT_EQ(value ? PrintCompact(*value) : "", GetParam().json) << (value ? "" : value.error().message);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, ReadYaml,
    testing::Values(
        Row{"words", "[yes, No, on, OFF, true, y]", R"([true,false,true,false,true,"y"])"},
        Row{"integers", "[0, -7, +8, 1_000, 012, 0x1F, 0b101, 1:30, 08]", R"([0,-7,8,1000,10,31,5,90,"08"])"},
        Row{"fractions", "[1.5, .5, -.5, 2., 1e3, 1.e3, 1.5E-3]", "[1.5,0.5,-0.5,2.0,1e3,1.0e3,1.5E-3]"},
        Row{"nulls", "{a: , b: ~, c: null, d: 'null'}", R"({"a":null,"b":null,"c":null,"d":"null"})"},
        Row{"quoted", "['1', \"yes\", '']", R"(["1","yes",""])"},
        Row{"tags", "[!!str 1, !!int '2']", R"(["1",2])"},
        Row{"dates_stay_text", "[2026-11-20, 3600s, .inf, 1.2.3]",
            R"(["2026-11-20","3600s",".inf","1.2.3"])"},
        Row{"alias", "a: &x {k: 1}\nb: *x", R"({"a":{"k":1},"b":{"k":1}})"},
        Row{"merge", "a: &x {k: 1, l: 2}\nb: {<<: *x, k: 3}", R"({"a":{"k":1,"l":2},"b":{"k":3,"l":2}})"},
        Row{"json", R"({"a": [1, "b", {"c": null}], "d\u00e9": "\n"})",
            "{\"a\":[1,\"b\",{\"c\":null}],\"d\xc3\xa9\":\"\\n\"}"},
        Row{"empty", "", "null"}, Row{"comment", "# nothing\n", "null"},
        Row{"number_keys", "{1: a}", R"({"1":"a"})"}, Row{"twice", "a: 1\na: 2", ""},
        Row{"open_list", "a: [1", ""}, Row{"list_as_key", "? [a]\n: 1", ""},
        Row{"unknown_alias", "a: *nope", ""}, Row{"tab", "a:\n\tb: 1", ""}),
    [](const auto& row) { return row.param.name; });

TEST(ParseYaml, BoundsAliases) {
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 9; ++i) {
    std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += before + (k < 9 ? "," : "]\n");
  }
  Result<Json> value = ParseYaml(bomb);
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().message,
            "line 5, column 38: the document has more than 100000 values, with aliases written out");
}

TEST(ParseYaml, BoundsWhatAliasesStandFor) {
  std::string text = "a: &a \"" + std::string(500'000, 'x') + "\"\nb: [*a, *a";
  EXPECT_TRUE(ParseYaml(text + "]"));
  for (int i = 0; i < 10; ++i) text += ", *a";
  const Result<Json> refused = ParseYaml(text + "]");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("4 MiB"), std::string::npos) << refused.error().message;
}

TEST(ParseYaml, RefusesWhatHasNoEnd) {
  for (const char* text : {"a: &x [*x]", "a: &x {b: *x}", "a: &x\n  <<: *x"})
    EXPECT_NE(ParseYaml(text).error().message.find("an alias stands within what it refers to"),
              std::string::npos);
}

TEST(ParseYaml, SurvivesDeepNesting) {
  EXPECT_FALSE(ParseYaml(std::string(100'000, '[')).has_value());
  EXPECT_FALSE(ParseYaml(std::string(100'000, '{')).has_value());
}

struct ScalarRow {
  const char* name;
  std::string text;
  std::string printed;
};

class PrintScalar : public testing::TestWithParam<ScalarRow> {};

TEST_P(PrintScalar, AsGcloud) {
  EXPECT_EQ(PrintYamlString(GetParam().text, {.column = 2, .indent = 2}), GetParam().printed);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, PrintScalar,
    testing::Values(ScalarRow{"plain", "a b", "a b"}, ScalarRow{"empty", "", "''"},
                    ScalarRow{"number", "1.5", "'1.5'"}, ScalarRow{"yes", "yes", "yes"},
                    ScalarRow{"quote", "'q'", "\"'q'\""}, ScalarRow{"document", "--- a", "'--- a'"},
                    ScalarRow{"flag", "--a=1", "--a=1"}, ScalarRow{"lines", "a\n  b\n", "|\n  a\n    b"},
                    ScalarRow{"lines_open", "a\n\n", "|+\n  a\n"},
                    ScalarRow{"escape", "\x1b[0m\\", "\"\\e[0m\\\\\""},
                    ScalarRow{"emoji", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
                    ScalarRow{"fold", std::string(79, 'x') + " y z", std::string(79, 'x') + "\n  y z"},
                    ScalarRow{"fold_double", "\t" + std::string(90, 'x') + " y",
                              "\"\\t" + std::string(90, 'x') + "\\\n  \\ y\""}),
    [](const auto& row) { return row.param.name; });

TEST(PrintYaml, Numbers) {
  EXPECT_EQ(PrintNumber("40"), "40");
  EXPECT_EQ(PrintNumber("0.123456789"), "0.123457");
  EXPECT_EQ(PrintNumber("1.0"), "1.0");
  EXPECT_EQ(PrintNumber("1234567.5"), "1234567.5");
  EXPECT_EQ(PrintNumber("1e12"), "1e+12");
  EXPECT_EQ(PrintNumber("1e-7"), "1e-07");
}

/// What we print we read back, whatever it is.
TEST(PrintYaml, ReadsBack) {
  for (const char* text :
       {"",
        " ",
        "a",
        "'",
        "\"",
        "\\",
        "a: b",
        "#",
        "a #b",
        "- a",
        "? a",
        "!x",
        "&x",
        "*x",
        "%x",
        "@x",
        "`",
        "|",
        ">",
        "{}",
        "[]",
        ",",
        "a\nb",
        "a\n",
        "\n",
        "\na",
        "a\n\n\nb\n\n",
        " a\nb",
        "x\ty",
        "\xc3\xa9",
        "\x01",
        "null",
        "0x1f",
        "1e3",
        "a\tb\nc",
        "very long text that goes on and on and on until it must be folded somewhere, doesn't it? yes"}) {
    Json object = JsonObject();
    SetMember(object, "key", JsonString(text));
    std::string printed = PrintYaml(object);
    Result<Json> read = ParseYaml(printed);
    ASSERT_TRUE(read.has_value()) << printed;
    EXPECT_EQ(TextAt(*read, "key"), text) << printed;
  }
}

}  // namespace
}  // namespace trainyard::cli
