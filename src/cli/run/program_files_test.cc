#include "cli/run/program_files.h"

#include <gtest/gtest.h>

#include "async/file.h"
#include "async/testing/temporary_folder.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<std::string>;

class ProgramFiles : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text = "") {
    fs::create_directories((root_ / path).parent_path());
    ASSERT_TRUE(WriteFileAtomically(root_ / path, text));
  }
  void WriteHole(const std::string& path, std::uintmax_t bytes) {
    Write(path);
    fs::resize_file(root_ / path, bytes);
  }
  static Paths PathsOf(const CollectedFiles& collected) {
    Paths paths;
    for (const ProgramFile& file : collected.files) paths.push_back(file.path);
    return paths;
  }

  TemporaryFolder folder_;
  fs::path root_ = folder_.path();
};

TEST_F(ProgramFiles, ModulesAndDataComeAlongAndJunkDoesNot) {
  for (const char* path :
       {"train.py", "model/net.py", "data/train.csv", "config.yaml", ".git/config", ".env", "venv/bin/python",
        "mine/pyvenv.cfg", "mine/lib.py", "model/__pycache__/net.pyc", "old.pyc", "x.egg-info/PKG-INFO"})
    Write(path, path);
  fs::create_directory_symlink("/etc", root_ / "linked");
  fs::create_symlink(root_ / "config.yaml", root_ / "same.yaml");
  const auto collected = CollectFiles({.folder = root_, .only_data_of = {}});
  ASSERT_TRUE(collected);
  EXPECT_EQ(PathsOf(*collected),
            (Paths{"config.yaml", "data/train.csv", "model/net.py", "same.yaml", "train.py"}));
  EXPECT_EQ(collected->files.front().bytes, "config.yaml");
  EXPECT_TRUE(collected->left_behind.empty());
}

TEST_F(ProgramFiles, TheLargestDataStaysBehindAndItsModulesDoNot) {
  Write("train.py");
  Write("data/load.py");
  WriteHole("data/a.bin", kDataBytesMax);
  WriteHole("small.bin", 1'000);
  const auto collected = CollectFiles({.folder = root_, .only_data_of = {}});
  ASSERT_TRUE(collected);
  EXPECT_EQ(PathsOf(*collected), (Paths{"data/load.py", "small.bin", "train.py"}));
  ASSERT_EQ(collected->left_behind.size(), 1U);
  EXPECT_EQ(collected->left_behind[0].name, "data");
  EXPECT_EQ(collected->left_behind[0].bytes, kDataBytesMax);
}

TEST_F(ProgramFiles, OfAPackagesNeighboursOnlyModulesCome) {
  for (const char* path : {"trainer/__init__.py", "trainer/task.py", "trainer/words.txt", "helper.py",
                           "notes.txt", "lib/__init__.py", "lib/table.csv", "scripts/once.py"})
    Write(path);
  const auto collected = CollectFiles({.folder = root_, .only_data_of = "trainer"});
  ASSERT_TRUE(collected);
  EXPECT_EQ(PathsOf(*collected), (Paths{"helper.py", "lib/__init__.py", "trainer/__init__.py",
                                        "trainer/task.py", "trainer/words.txt"}));
}

TEST_F(ProgramFiles, TooManyModulesAreRefused) {
  WriteHole("big.py", kModuleBytesMax + 1);
  const auto collected = CollectFiles({.folder = root_, .only_data_of = {}});
  ASSERT_FALSE(collected);
  EXPECT_EQ(collected.error().message,
            root_.string() +
                " has 1 Python files of 16 MB together; at most 2000 of 16 MB come along. Put the "
                "program into a folder of its own");
}

TEST(SizeText, HasTwoDigits) {
  EXPECT_EQ(SizeText(0), "0 B");
  EXPECT_EQ(SizeText(999), "999 B");
  EXPECT_EQ(SizeText(1'500), "1.5 KB");
  EXPECT_EQ(SizeText(5'200'000'000), "5.2 GB");
  EXPECT_EQ(SizeText(64 << 20), "67 MB");
}

}  // namespace
}  // namespace trainyard::cli
