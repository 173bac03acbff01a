#include "base/async/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>

#include "base/async/unique_fd.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

constexpr fs::perms kOpenToAll = fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                                 fs::perms::others_read | fs::perms::others_exec;

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "file_test.XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::size_t EntryCount() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(FileTest, AWriteReplacesAndLeavesNothingElse) {
  const fs::path path = folder_ / "a";
  for (const auto& write : {WriteFileAtomically, ReplaceFile}) {
    ASSERT_TRUE(write(path, "one", 0644));
    ASSERT_TRUE(write(path, std::string(100'000, 'x'), 0600));
    EXPECT_EQ(ReadFile(path), std::string(100'000, 'x'));
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(EntryCount(), 1U);
  }
}

TEST_F(FileTest, AFailedWriteKeepsTheOldContents) {
  const fs::path path = folder_ / "a";
  fs::create_directory(path);  // rename onto a folder fails
  for (const auto& write : {WriteFileAtomically, ReplaceFile}) {
    const Status written = write(path, "one", 0644);
    ASSERT_FALSE(written);
    EXPECT_NE(written.error().message.find(path.string()), std::string::npos);
    EXPECT_EQ(EntryCount(), 1U);
  }
}

/// From now on fsync fails in this process, as on a broken disk. Returns whether the kernel accepts that.
bool BreakSync() {
  std::array<sock_filter, 4> filter{{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fsync, 0, 1),
                                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
                                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog program{.len = filter.size(), .filter = filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_F(FileTest, ContentsThatCannotBeSyncedReplaceNothing) {
  const fs::path path = folder_ / "a";
  ASSERT_TRUE(WriteFileAtomically(path, "old"));
  const pid_t child = ::fork();
  if (child == 0) ::_exit(BreakSync() && !WriteFileAtomically(path, "new") ? 7 : 8);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(ReadFile(path), "old");
  EXPECT_EQ(EntryCount(), 1U);
}

TEST_F(FileTest, AtomicWriteIntoAMissingFolder) {
  const Status written = WriteFileAtomically(folder_ / "none" / "a", "one");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::kNotFound);
}

TEST_F(FileTest, ReadsWhatHasNoSize) {
  const Result<std::string> status = ReadFile("/proc/self/status");
  ASSERT_TRUE(status);
  EXPECT_EQ(status->find("Name:"), 0U);
}

TEST_F(FileTest, ReadLimitAndMissingFile) {
  const fs::path path = folder_ / "a";
  ASSERT_TRUE(WriteFileAtomically(path, "12345"));
  EXPECT_EQ(ReadFile(path, 5), "12345");
  const Result<std::string> over = ReadFile(path, 4);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, Code::kOutOfRange);
  const Result<std::string> missing = ReadFile(folder_ / "b");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error(),
            (Error{Code::kNotFound, "open " + (folder_ / "b").string() + ": No such file or directory", ""}));
}

TEST_F(FileTest, FullDeviceIsResourceExhausted) {
  const Result<UniqueFd> full = OpenFile("/dev/full", O_WRONLY);
  ASSERT_TRUE(full);
  const Status written = WriteAll(full->get(), "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::kResourceExhausted);
}

unsigned Mode(const fs::path& path) {
  struct stat there{};
  EXPECT_EQ(::stat(path.c_str(), &there), 0);
  return there.st_mode & 07777;
}

TEST_F(FileTest, FoldersAreMadeWithWhatIsMissingAbove) {
  fs::permissions(folder_, kOpenToAll);
  const mode_t before = ::umask(022);
  EXPECT_TRUE(MakeFolders(folder_ / "a/b/"));
  EXPECT_TRUE(MakeFolders(folder_ / "p/q", 0700));
  ::umask(before);
  EXPECT_EQ(Mode(folder_ / "a/b"), 0755U);
  EXPECT_EQ(Mode(folder_ / "p"), 0700U);
  EXPECT_EQ(Mode(folder_ / "p/q"), 0700U);
  EXPECT_TRUE(MakeFolders(folder_ / "a/b"));
  EXPECT_TRUE(MakeFolders("/proc/self"));
  EXPECT_EQ(MakeFolders("/proc/self/none").error().code, Code::kNotFound);
}

TEST_F(FileTest, PrivateFoldersAreTheOwners) {
  fs::permissions(folder_, kOpenToAll);
  const mode_t before = ::umask(0);
  EXPECT_TRUE(MakePrivateFolder(folder_ / "a/b/"));
  ::umask(before);
  EXPECT_EQ(Mode(folder_), 0755U);
  EXPECT_EQ(Mode(folder_ / "a"), 0700U);
  EXPECT_EQ(Mode(folder_ / "a/b"), 0700U);
  fs::permissions(folder_ / "a/b", kOpenToAll);
  EXPECT_TRUE(MakePrivateFolder(folder_ / "a/b"));
  EXPECT_EQ(Mode(folder_ / "a/b"), 0700U);
}

TEST_F(FileTest, FoldersWhereAFileIsFail) {
  ASSERT_TRUE(WriteFileAtomically(folder_ / "file", "x"));
  for (const fs::path& path : {folder_ / "file", folder_ / "file/below"}) {
    EXPECT_FALSE(MakeFolders(path));
    EXPECT_FALSE(MakePrivateFolder(path));
  }
}

class TakeLockTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  [[nodiscard]] UniqueFd Open() const {
    return UniqueFd(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  }

  const std::string path_ = testing::TempDir() + "take_lock_test." + std::to_string(::getpid());
};

TEST_F(TakeLockTest, WaitsForOneThatIsAboutToGo) {
  UniqueFd held = Open();
  ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);
  std::thread goes([&held] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    held = UniqueFd();
  });
  const UniqueFd mine = Open();
  EXPECT_EQ(TakeLock(mine.get()), Result<bool>(true));
  goes.join();
}

TEST_F(TakeLockTest, GivesUpOnOneThatStays) {
  const UniqueFd held = Open();
  ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);
  const UniqueFd mine = Open();
  EXPECT_EQ(TakeLock(mine.get(), std::chrono::milliseconds(30)), Result<bool>(false));
}

TEST_F(TakeLockTest, SaysWhatCannotBeLocked) { EXPECT_FALSE(TakeLock(-1)); }

}  // namespace
}  // namespace trainyard
