#include "programs/environment/build_content.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/async/remove_tree.h"
#include "programs/environment/package_files_for_test.h"
#include "programs/environment/temporary_folder_for_test.h"

namespace trainyard::environment {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

struct Row {
  const char* name;
  const char* at;
  const char* text;
  bool stays;
};
class Links : public testing::TestWithParam<Row> {};
TEST_P(Links, Stay) {
  EXPECT_EQ(LeadsNowhereElse("/env/layer", GetParam().at, GetParam().text, {"/usr", "/py/bin/python3"}),
            GetParam().stays);
}
INSTANTIATE_TEST_SUITE_P(
    Rules, Links,
    testing::Values(
        Row{"beside", "bin", "python3", true}, Row{"up_and_inside", "bin", "../lib/x", true},
        Row{"itself", "", ".", true}, Row{"up_and_out", "bin", "../../other", false},
        Row{"the_folder_above", "", "..", false}, Row{"absolute_inside", "bin", "/env/layer/lib", true},
        Row{"like_the_folder", "bin", "/env/layer2", false}, Row{"outside", "", "/etc/shadow", false},
        Row{"target", "bin", "/py/bin/python3", true}, Row{"below_a_target", "", "/usr/bin/env", true},
        Row{"above_a_target", "", "/py/bin", false}, Row{"out_of_a_target", "", "/usr/../etc", false},
        Row{"through_another_link", "", "lib/../../x", false}, Row{"root", "", "/", false},
        Row{"empty", "", "", false}),
    [](const auto& row) { return row.param.name; });

class Content : public testing::Test {
 protected:
  std::vector<std::string> Clean(const ContentRules& rules = {}) {
    const auto lines = CleanContent(layer_, rules);
    EXPECT_TRUE(lines) << lines.error().message;
    return lines.value_or(std::vector<std::string>());
  }
  static mode_t Mode(const fs::path& path) {
    struct stat status{};
    return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
  }

  TemporaryFolder folder_;
  fs::path layer_ = folder_.path() / "layer";
};

TEST_F(Content, StaysWhereItIsHarmless) {
  WriteText(layer_ / "lib/a.py", "1");
  fs::create_symlink("lib", layer_ / "lib64");
  fs::create_hard_link(layer_ / "lib/a.py", layer_ / "b.py");
  EXPECT_THAT(Clean(), IsEmpty());
  EXPECT_EQ(ReadText(layer_ / "lib64/a.py"), "1");
  EXPECT_EQ(ReadText(layer_ / "b.py"), "1");
}

TEST_F(Content, LosesWhatReachesOutside) {
  WriteText(folder_.path() / "other", "secret");
  WriteText(layer_ / "bin/tool", "x");
  fs::create_symlink("../../other", layer_ / "bin/link");
  fs::create_hard_link(folder_.path() / "other", layer_ / "same");
  ASSERT_EQ(::mkfifo((layer_ / "pipe").c_str(), 0666), 0);
  EXPECT_THAT(Clean(),
              UnorderedElementsAre(
                  "Dropped bin/link: it is a link to ../../other, outside of the installed packages.",
                  "Dropped same: it is a file of another folder as well.",
                  "Dropped pipe: it is a pipe, a socket or a device."));
  EXPECT_EQ(ReadText(folder_.path() / "other"), "secret");
  EXPECT_TRUE(fs::exists(layer_ / "bin/tool"));
}

TEST_F(Content, CanBeChangedOnlyByUs) {
  WriteText(layer_ / "bin/tool", "x");
  ::chmod((layer_ / "bin/tool").c_str(), 06777);
  ::chmod((layer_ / "bin").c_str(), 01777);
  EXPECT_THAT(Clean(), ElementsAre("Removed the setuid and setgid bits of bin/tool."));
  EXPECT_EQ(Mode(layer_ / "bin/tool"), 0755U);
  EXPECT_EQ(Mode(layer_ / "bin"), 0755U);
}

TEST_F(Content, OfAnImageKeepsItsLinksAndWhiteouts) {
  WriteText(layer_ / "usr/su", "x");
  ::chmod((layer_ / "usr/su").c_str(), 04755);
  fs::create_symlink("/etc/alternatives/vi", layer_ / "usr/vi");
  const bool may_make = ::mknod((layer_ / "gone").c_str(), S_IFCHR, 0) == 0;
  EXPECT_THAT(Clean({.is_image_layer = true}), ElementsAre("Removed the setuid and setgid bits of usr/su."));
  EXPECT_TRUE(fs::is_symlink(layer_ / "usr/vi"));
  EXPECT_EQ(fs::is_character_file(layer_ / "gone"), may_make);
}

TEST_F(Content, SaysOnlySoMuch) {
  fs::create_directories(layer_);
  for (int i = 0; i < 30; ++i) fs::create_symlink("/etc", layer_ / std::to_string(i));
  const auto lines = Clean();
  ASSERT_EQ(lines.size(), kContentLinesMax + 1);
  EXPECT_EQ(lines.back(), "Dropped 10 more.");
  EXPECT_TRUE(fs::is_empty(layer_));
}

TEST_F(Content, NestedWithoutEndIsRefused) {
  fs::create_directories(layer_);
  const fs::path back = fs::current_path();
  fs::current_path(layer_);
  for (int i = 0; i < 3000; ++i) {
    ASSERT_EQ(::mkdir("d", 0755), 0);
    ASSERT_EQ(::chdir("d"), 0);
  }
  fs::current_path(back);
  const auto refused = CleanContent(layer_, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), FailedPrecondition("folders of the packages are nested more than 200 deep"));
  EXPECT_TRUE(RemoveTree(layer_));
}

}  // namespace
}  // namespace trainyard::environment
