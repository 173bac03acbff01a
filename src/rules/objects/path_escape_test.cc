#include "rules/objects/path_escape.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace trainyard::storage {
namespace {

struct Row {
  const char* name;
  std::string object;
  ObjectPath path;
};
class Escape : public testing::TestWithParam<Row> {};
TEST_P(Escape, MakesThePath) { EXPECT_EQ(EscapeObject(GetParam().object), GetParam().path); }
INSTANTIATE_TEST_SUITE_P(
    Names, Escape,
    testing::Values(
        Row{"plain", "model.pkl", {{}, "model.pkl"}}, Row{"folders", "a/b/c", {{"a", "b"}, "c"}},
        Row{"percent_stays", "100%/a%2Fb", {{"100%"}, "a%2Fb"}},
        Row{"hidden_stays", ".git/.x", {{".git"}, ".x"}}, Row{"folder_marker", "a/", {{"a"}, ".%empty"}},
        Row{"slash", "/", {{".%empty"}, ".%empty"}}, Row{"double_slash", "a//b", {{"a", ".%empty"}, "b"}},
        Row{"leading_slash", "/etc/passwd", {{".%empty", "etc"}, "passwd"}},
        Row{"parent", "../../x", {{".%dotdot", ".%dotdot"}, "x"}},
        Row{"current", "a/./b", {{"a", ".%dot"}, "b"}}, Row{"three_dots", "...", {{}, "..."}},
        Row{"mark", ".%empty", {{}, ".%name..%empty"}}, Row{"utf8", "Zürich/é", {{"Zürich"}, "é"}},
        Row{"longest_plain", std::string(248, 'x'), {{}, std::string(248, 'x')}},
        Row{"long_name",
            std::string(249, 'x'),
            {{".%part." + std::string(240, 'x')}, ".%last." + std::string(9, 'x')}},
        Row{"long_folder",
            std::string(500, 'x') + "/y",
            {{".%part." + std::string(240, 'x'), ".%part." + std::string(240, 'x'),
              ".%last." + std::string(20, 'x')},
             "y"}}),
    [](const auto& row) { return row.param.name; });

TEST(Escape, IsOneToOneAndNeverLeavesTheFolder) {
  const std::vector<std::string> pieces{
      "a", "/", ".", "..", ".%", ".%part.", ".%last.", ".%file.", "é", "//", std::string(239, 'x')};
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string object;
    const auto count = 1 + random() % 8;
    for (unsigned i = 0; i < count; ++i) object += pieces[random() % pieces.size()];
    const ObjectPath path = EscapeObject(object);
    std::string back;
    for (const std::string& folder : path.folders) {
      ASSERT_TRUE(folder != "." && folder != ".." && !folder.empty() &&
                  folder.find('/') == std::string::npos);
      ASSERT_LE(folder.size(), kComponentBytesMax);
      const auto name = DecodeEntry(folder);
      ASSERT_TRUE(name && !name->displaced) << folder;
      back += name->piece ? name->text : name->text + "/";
    }
    for (const std::string& file : {path.file, DisplacedName(path.file)}) {
      const auto name = DecodeEntry(file);
      ASSERT_TRUE(name) << file;
      ASSERT_EQ(back + name->text, object);
      ASSERT_EQ(name->displaced, file != path.file);
    }
  }
}

struct Foreign {
  const char* name;
  std::string entry;
};
class DecodeRefuses : public testing::TestWithParam<Foreign> {};
TEST_P(DecodeRefuses, WhatIsNoObject) { EXPECT_EQ(DecodeEntry(GetParam().entry), std::nullopt); }
INSTANTIATE_TEST_SUITE_P(
    Entries, DecodeRefuses,
    testing::Values(Foreign{"unknown_mark", ".%what"}, Foreign{"temporary", ".%tmp.0123"},
                    Foreign{"needless_escape", ".%name.plain"}, Foreign{"empty_piece", ".%part."},
                    Foreign{"displaced_nothing", ".%file."}, Foreign{"displaced_twice", ".%file..%file.a"},
                    Foreign{"latin1", "caf\xe9"}, Foreign{"line_end", "a\nb"},
                    Foreign{"too_long", std::string(255, 'x')}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::storage
