#include "base/configuration/testing/commented_file.h"

#include <gtest/gtest.h>

namespace trainyard::configuration {
namespace {

using Kind = Key::Kind;

TEST(PrintCommentedTest, HasEveryKeyWithItsDefault) {
  const std::vector<Key> keys{
      {.name = "accelerators", .flag = "", .metavar = "TYPE=N,...", .help = "Those of this machine."},
      {.name = "bucket-dir", .flag = "", .kind = Kind::kList, .metavar = "NAME=PATH", .help = "A folder."},
      {.name = "create-buckets",
       .flag = "",
       .kind = Kind::kSwitch,
       .turns_off = true,
       .help = "Refuse.",
       .fallback = "true"},
      {.name = "data", .flag = "", .metavar = "DIR", .help = "Folder.", .fallback = "/home/a"}};
  const std::vector<Setting> active{{.key = "data", .values = {{"/var/lib/a"}}}};
  EXPECT_EQ(
      PrintCommented("# First.\n", keys, active),
      "# First.\n"
      "\n# Those of this machine.\n# Value: TYPE=N,..., or a mapping; not set by default.\n#accelerators:\n"
      "\n# A folder.\n# Value: a list of NAME=PATH, or a mapping.\n#bucket-dir: []\n"
      "\n# If false: Refuse.\n# Value: true or false.\n#create-buckets: true\n"
      "\n# Folder.\n# Value: DIR.\ndata: /var/lib/a\n");
}

TEST(PrintCommentedTest, FoldsLongLines) {
  std::string help = "A";
  for (int i = 0; i < 40; ++i) help += " word";
  const std::vector<Key> keys{{.name = "data", .flag = "", .metavar = "DIR", .help = help}};
  const std::string text = PrintCommented("", keys, {});
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    EXPECT_LE(end - start, 100U);
    start = end + 1;
  }
}

}  // namespace
}  // namespace trainyard::configuration
