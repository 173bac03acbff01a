#include "base/packing/entry_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace trainyard::packing {
namespace {

struct Row {
  const char* name;
  std::string object;
  std::string entry;
};

class EntryNamesOf : public testing::TestWithParam<Row> {};

TEST_P(EntryNamesOf, IsSafe) {
  const Row& row = GetParam();
  EXPECT_EQ(EntryNames("run").NameOf(row.object, false), "run/" + row.entry);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, EntryNamesOf,
    testing::Values(Row{"plain", "a/b.txt", "a/b.txt"}, Row{"utf8", "\u00fc/\u4e2d", "\u00fc/\u4e2d"},
                    Row{"parent", "../../etc/passwd", "%2E%2E/%2E%2E/etc/passwd"},
                    Row{"dot", "./a/.", "%2E/a/%2E"}, Row{"dots_in_names", "a../..b/...", "a../..b/..."},
                    Row{"absolute", "/etc/passwd", "%2F/etc/passwd"}, Row{"empty_parts", "a//b", "a/%2F/b"},
                    Row{"backslash", "..\\..\\x", "..%5C..%5Cx"}, Row{"drive", "C:\\x", "C%3A%5Cx"},
                    Row{"time", "10:30:00", "10:30:00"}, Row{"newline", "a\nb\r\x7f", "a%0Ab%0D%7F"},
                    Row{"nul", std::string("a\0b", 3), "a%00b"}, Row{"escape", "%2E%2E/x", "%252E%252E/x"},
                    Row{"percent", "100%/50%a", "100%/50%a"}, Row{"not_utf8", "a\xff", "a%FF"},
                    Row{"terminal", "\x1b[31m", "%1B[31m"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(EntryNames, FoldersAreFolders) {
  EntryNames names("top");
  EXPECT_EQ(names.NameOf("d/", true), "top/d/");
  EXPECT_EQ(names.NameOf("d/", false), "top/d/%2F");
  EXPECT_EQ(names.NameOf("d/../", true), "top/d/%2E%2E/");
}

TEST(EntryNames, AFileIsNoFolderToo) {
  EntryNames names("top");
  EXPECT_EQ(names.NameOf("a", false), "top/a");
  EXPECT_EQ(names.NameOf("a-b", false), "top/a-b");
  EXPECT_EQ(names.NameOf("a/b", false), "top/a%2F/b");
  EXPECT_EQ(names.NameOf("a/b/c", false), "top/a%2F/b%2F/c");
  EXPECT_EQ(names.NameOf("a0", false), "top/a0");
  EXPECT_EQ(names.NameOf("b/a/b", false), "top/b/a/b");
}

/// All names of up to five of these characters, in order, give different entry names, and none leads out of
/// the folder.
TEST(EntryNames, AreOneToOne) {
  const std::string alphabet = "%/.2F";
  std::vector<std::string> objects{""};
  for (std::size_t i = 0; i < objects.size(); ++i)
    if (objects[i].size() < 5)
      for (const char c : alphabet) objects.push_back(objects[i] + c);
  objects.erase(objects.begin());
  std::ranges::sort(objects);
  EntryNames names("t");
  std::set<std::string> files;
  for (const std::string& object : objects) {
    const std::string name = names.NameOf(object, false);
    EXPECT_TRUE(files.insert(name).second) << object << " " << name;
    EXPECT_TRUE(name.starts_with("t/"));
    for (const char* bad : {"//", "/./", "/../"}) EXPECT_FALSE((name + "/").contains(bad)) << object;
  }
  // No file's name is a folder of another one's.
  for (const std::string& file : files)
    for (std::size_t slash = file.find('/'); slash != std::string::npos; slash = file.find('/', slash + 1))
      EXPECT_FALSE(files.contains(file.substr(0, slash))) << file;
}

}  // namespace
}  // namespace trainyard::packing
