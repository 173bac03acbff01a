#include "cli/run/program_files.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "base/async/file.h"
#include "base/async/testing/temporary_folder.h"
#include "base/check.h"

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
  EXPECT_EQ(collected->skipped, (std::vector<CollectedFiles::SkippedFile>{{"linked", "a link to a folder"}}));
}

/// While it lives, this thread may read only what the modes of files allow, as an ordinary account.
class WithoutRightsOfRoot {
 public:
  WithoutRightsOfRoot() {
    TY_CHECK(syscall(SYS_capget, &header_, before_.data()) == 0);
    auto fewer = before_;
    fewer[0].effective &= ~((1U << CAP_DAC_OVERRIDE) | (1U << CAP_DAC_READ_SEARCH));
    TY_CHECK(syscall(SYS_capset, &header_, fewer.data()) == 0);
  }
  ~WithoutRightsOfRoot() { TY_CHECK(syscall(SYS_capset, &header_, before_.data()) == 0); }
  WithoutRightsOfRoot(const WithoutRightsOfRoot&) = delete;
  WithoutRightsOfRoot& operator=(const WithoutRightsOfRoot&) = delete;

 private:
  __user_cap_header_struct header_{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> before_{};
};

TEST_F(ProgramFiles, TokensAndPrivateKeysStayBehindAndAreNamed) {
  constexpr std::string_view kWhy = "a token or a private key; --secret hands one to the job";
  Write("train.py");
  const std::string token = "ty_" + std::string(49, 'a');
  std::ofstream(root_ / "ann.token") << token << "\n";
  std::ofstream(root_ / "key.json")
      << R"({"private_key": "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n"})";
  std::ofstream(root_ / "notes.txt") << "the token is " << token;
  std::ofstream(root_ / "cert.pem") << "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";
  const auto collected = CollectFiles({.folder = root_, .only_data_of = {}});
  ASSERT_TRUE(collected) << collected.error().message;
  EXPECT_EQ(PathsOf(*collected), (Paths{"cert.pem", "notes.txt", "train.py"}));
  EXPECT_EQ(collected->skipped,
            (std::vector<CollectedFiles::SkippedFile>{{"ann.token", kWhy}, {"key.json", kWhy}}));
}

TEST_F(ProgramFiles, WhatCannotBeReadIsNamed) {
  constexpr std::string_view kUnreadable = "cannot be read";
  for (const char* path : {"train.py", "hidden/a.txt", "listed/a.txt", "secret.txt"}) Write(path);
  fs::permissions(root_ / "hidden", fs::perms::none);
  fs::permissions(root_ / "listed", fs::perms::owner_read);
  fs::permissions(root_ / "secret.txt", fs::perms::none);
  {
    const WithoutRightsOfRoot ordinary;
    const auto collected = CollectFiles({.folder = root_, .only_data_of = {}});
    ASSERT_TRUE(collected) << collected.error().message;
    EXPECT_EQ(PathsOf(*collected), Paths{"train.py"});
    EXPECT_EQ(collected->skipped,
              (std::vector<CollectedFiles::SkippedFile>{
                  {"hidden", kUnreadable}, {"listed/a.txt", kUnreadable}, {"secret.txt", kUnreadable}}));
  }
  for (const char* folder : {"hidden", "listed"}) fs::permissions(root_ / folder, fs::perms::owner_all);
}

TEST_F(ProgramFiles, WhatIsNoFileIsNamed) {
  Write("train.py");
  fs::create_symlink("/nonexistent", root_ / "weights.bin");
  ASSERT_EQ(::mkfifo((root_ / "progress").c_str(), 0600), 0);
  const auto collected = CollectFiles({.folder = root_, .only_data_of = {}});
  ASSERT_TRUE(collected);
  EXPECT_EQ(PathsOf(*collected), Paths{"train.py"});
  EXPECT_EQ(collected->skipped, (std::vector<CollectedFiles::SkippedFile>{
                                    {"progress", "a pipe"}, {"weights.bin", "a link to nothing"}}));
}

TEST_F(ProgramFiles, ProgramsStayExecutable) {
  Write("run.sh");
  Write("train.py");
  fs::permissions(root_ / "run.sh", fs::perms::owner_all);
  const auto collected = CollectFiles({.folder = root_, .only_data_of = {}});
  ASSERT_TRUE(collected);
  EXPECT_TRUE(collected->files[0].executable);
  EXPECT_FALSE(collected->files[1].executable);
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
  EXPECT_EQ(collected.error().message, root_.string() +
                                           " has 1 Python files of 16 MB together; at most 2000 of 16 MB can "
                                           "be uploaded. Move the program to a separate folder");
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
