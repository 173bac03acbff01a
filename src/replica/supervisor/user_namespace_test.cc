#include "programs/sandbox/namespaces/id_map.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/async/file.h"
#include "base/async/testing/temporary_folder.h"
#include "replica/supervisor/testing/attempt_fixture.h"

namespace trainyard::replica {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr IdRange kIds{.first = 1'900'000'000, .count = 65'536};

/// Runs the function in a child process and returns its result.
template <class Function>
int InChild(const Function& function) {
  const pid_t child = fork();
  if (child == 0) _exit(function());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class UserNamespace : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    if (const Status can = CheckMappedMounts(kIds, folder_.path()); !can) GTEST_SKIP() << can.error().message;
  }
  TemporaryFolder folder_;
};

TEST_F(UserNamespace, ItsRootIsNobodyOutside) {
  const UniqueFd users = MakeUserNamespace(kIds).value();
  const std::string mine = folder_.path() + "/mine";
  ASSERT_TRUE(WriteFileAtomically(mine, "x", 0600));
  ASSERT_EQ(chmod(folder_.path().c_str(), 0777), 0);
  EXPECT_EQ(InChild([&] {
              if (BecomeRootIn(users.get()) != nullptr) return 1;
              if (getuid() != 0 || getgid() != 0 || getgroups(0, nullptr) != 0) return 2;
              if (open(mine.c_str(), O_RDONLY) >= 0) return 3;
              if (kill(getppid(), 0) == 0) return 4;
              return open((folder_.path() + "/its").c_str(), O_CREAT | O_WRONLY, 0600) >= 0 ? 0 : 5;
            }),
            0);
  struct stat its{};
  ASSERT_EQ(stat((folder_.path() + "/its").c_str(), &its), 0);
  EXPECT_THAT((std::vector{its.st_uid, its.st_gid}), ElementsAre(kIds.first, kIds.first));
}

TEST_F(UserNamespace, AMappedMountShowsItsFilesAsItsOwn) {
  const UniqueFd users = MakeUserNamespace(kIds).value();
  ASSERT_TRUE(WriteFileAtomically(folder_.path() + "/mine", "x", 0600));
  EXPECT_EQ(
      InChild([&] {
        if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
          return 1;
        const UniqueFd tree(open_tree(AT_FDCWD, folder_.path().c_str(), OPEN_TREE_CLONE));
        if (MapMount(tree.get(), users.get(), MOUNT_ATTR_NODEV) != 0) return 2;
        if (BecomeRootIn(users.get()) != nullptr) return 3;
        if (openat(tree.get(), "mine", O_RDWR) < 0) return 4;
        return openat(tree.get(), "its", O_CREAT | O_WRONLY, 0600) >= 0 ? 0 : 5;
      }),
      0);
  struct stat its{};
  ASSERT_EQ(stat((folder_.path() + "/its").c_str(), &its), 0);
  EXPECT_THAT((std::vector{its.st_uid, its.st_gid}), ElementsAre(0U, 0U));
}

TEST_F(UserNamespace, WhatCannotBeShownIsNamed) {
  EXPECT_THAT(CheckMappedMounts(kIds, "/proc").error().message,
              HasSubstr("cannot show /proc with the ids of a job: its file system"));
  EXPECT_THAT(CheckMappedMounts(kIds, "/not/there").error().message, HasSubstr("open_tree"));
}

TEST(OutermostClosedFolder, IsWhereOthersCannotGoOn) {
  const TemporaryFolder folder;
  const std::string inner = fs::canonical(folder.path()).string() + "/a/b/c";
  fs::create_directories(inner);
  ASSERT_EQ(chmod(fs::canonical(folder.path()).c_str(), 0755), 0);
  EXPECT_EQ(OutermostClosedFolder(inner), inner);
  ASSERT_EQ(chmod((inner + "/..").c_str(), 0700), 0);
  EXPECT_EQ(OutermostClosedFolder(inner), inner.substr(0, inner.size() - 2));
  EXPECT_EQ(OutermostClosedFolder("/"), "/");
}

/// A whole replica whose program has its own user ids.
class JobUsersTest : public AttemptFixture {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    if (const Status can = CheckMappedMounts(kIds, folder_.path()); !can) GTEST_SKIP() << can.error().message;
    manifest_.mutable_users()->set_first(kIds.first);
    manifest_.mutable_users()->set_count(kIds.count);
  }
  std::vector<std::string> RunScript(const std::string& script) {
    Program(script);
    Run();
    EXPECT_EQ(Finish().exit_code(), 0);
    return UserLines();
  }
};

TEST_F(JobUsersTest, IsRootInsideOnly) {
  EXPECT_THAT(RunScript("id -u; id -g; id -G; echo $(cat /proc/self/uid_map); "
                        "cat /etc/shadow >/dev/null 2>&1 || echo no shadow; "
                        "kill -0 1 2>/dev/null || echo no signal; "
                        "touch /etc/trainyard-test 2>/dev/null || echo no file"),
              ElementsAre("INFO 0", "INFO 0", "INFO 0", "INFO 0 1900000000 65536", "INFO no shadow",
                          "INFO no signal", "INFO no file"));
}

TEST_F(JobUsersTest, ItsFoldersAndOutputsAreItsOwn) {
  EXPECT_THAT(RunScript("touch a \"$HOME/b\" /tmp/c && echo written; stat -c %u . \"$HOME\" /tmp a; "
                        "echo out >/dev/stdout; echo err >/dev/stderr; sleep 0.1; "
                        "touch " +
                        folder_.path() + "/environments/x 2>/dev/null || echo read only"),
              testing::UnorderedElementsAre("INFO written", "INFO 0", "INFO 0", "INFO 0", "INFO 0",
                                            "INFO out", "ERROR err", "INFO read only"));
}

TEST_F(JobUsersTest, WorksBelowAFolderThatIsItsOwnersAlone) {
  ASSERT_EQ(chmod(folder_.path().c_str(), 0700), 0);
  EXPECT_THAT(RunScript("ls " + folder_.path()), ElementsAre("INFO attempts", "INFO environments"));
}

}  // namespace
}  // namespace trainyard::replica
