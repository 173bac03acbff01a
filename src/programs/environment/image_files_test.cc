#include "programs/environment/image_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include "programs/environment/package_files_for_test.h"
#include "programs/environment/temporary_folder_for_test.h"

namespace trainyard::environment {
namespace {

namespace fs = std::filesystem;

class ImageFilesTest : public testing::Test {
 protected:
  ImageFilesTest() {
    WriteText(Low() / "usr/lib/a.py", "low a");
    WriteText(Low() / "usr/lib/b.py", "low b");
    WriteText(Low() / "usr/lib/gone.py", "low");
    WriteText(Low() / "opt/old/x", "low");
    WriteText(High() / "usr/lib/a.py", "high a");
    WriteText(High() / "opt/old/y", "high");
  }
  [[nodiscard]] fs::path Low() const { return folder_.path() / "low"; }
  [[nodiscard]] fs::path High() const { return folder_.path() / "high"; }
  [[nodiscard]] std::string Text(const fs::path& inside) const {
    const auto found = files_.Find(inside);
    return found ? ReadText(found->outside) : "nothing";
  }

  TemporaryFolder folder_;
  ImageFiles files_{{Low(), High()}};
};

TEST_F(ImageFilesTest, TheHighestLayerCounts) {
  EXPECT_EQ(Text("/usr/lib/a.py"), "high a");
  EXPECT_EQ(Text("/usr/lib/b.py"), "low b");
  EXPECT_EQ(Text("/usr/lib/none.py"), "nothing");
  EXPECT_EQ(*files_.List("/usr/lib"), (std::vector<std::string>{"a.py", "b.py", "gone.py"}));
}

TEST_F(ImageFilesTest, WhatALayerDeletesIsGone) {
  if (::mknod((High() / "usr/lib/gone.py").c_str(), S_IFCHR, makedev(0, 0)) != 0)
    GTEST_SKIP() << "this machine lets nobody make whiteouts";
  ASSERT_EQ(::setxattr((High() / "opt/old").c_str(), "user.overlay.opaque", "y", 1, 0), 0);
  EXPECT_EQ(Text("/usr/lib/gone.py"), "nothing");
  EXPECT_EQ(Text("/opt/old/x"), "nothing");
  EXPECT_EQ(Text("/opt/old/y"), "high");
  EXPECT_EQ(*files_.List("/usr/lib"), (std::vector<std::string>{"a.py", "b.py"}));
  EXPECT_EQ(*files_.List("/opt/old"), std::vector<std::string>{"y"});
}

TEST_F(ImageFilesTest, LinksStayInside) {
  fs::create_directory_symlink("usr/lib", Low() / "lib");
  fs::create_symlink("/lib/../lib/b.py", High() / "usr/absolute");
  fs::create_symlink("../../../../../../../../etc/passwd", High() / "usr/out");
  fs::create_symlink("round", High() / "round");
  EXPECT_EQ(files_.Find("/lib/a.py")->inside, "/usr/lib/a.py");
  EXPECT_EQ(Text("/usr/absolute"), "low b");
  EXPECT_EQ(Text("/usr/out"), "nothing");
  EXPECT_EQ(Text("/round"), "nothing");
  EXPECT_TRUE(files_.Find("/lib")->is_directory);
}

/// A folder that a lower layer has a link for: what the link leads to is not looked at.
TEST_F(ImageFilesTest, AListDoesNotFollowALinkOfALowerLayer) {
  const fs::path outside = folder_.path() / "outside";
  fs::create_directory(outside);
  for (std::size_t i = 0; i <= kNamesMax; ++i) WriteText(outside / std::to_string(i), "");
  fs::remove_all(Low() / "opt/old");
  fs::create_directory_symlink(outside, Low() / "opt/old");
  const auto names = files_.List("/opt/old");
  ASSERT_TRUE(names) << names.error().message;
  EXPECT_EQ(*names, std::vector<std::string>{"y"});
  EXPECT_EQ(Text("/opt/old/1"), "nothing");
  EXPECT_EQ(ImageFiles({folder_.path()}).List("/outside").error(),
            FailedPrecondition("/outside of the image has more than 10000 files"));
}

TEST_F(ImageFilesTest, AFileHidesAFolderBelow) {
  fs::remove_all(High() / "opt");
  WriteText(High() / "opt", "now a file");
  EXPECT_EQ(Text("/opt/old/x"), "nothing");
  EXPECT_EQ(Text("/opt"), "now a file");
}

}  // namespace
}  // namespace trainyard::environment
