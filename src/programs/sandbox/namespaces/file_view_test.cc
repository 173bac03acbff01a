#include "programs/sandbox/namespaces/file_view.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "programs/sandbox/sandbox.h"

namespace trainyard::replica::file_view_test {
namespace {

/// Runs the function in a sandbox with the view and returns its result; -1 if the machine allows no sandbox.
int RunInside(FileView view, std::function<int()> function) {
  SandboxPlan plan{.function = std::move(function),
                   .isolation = geteuid() == 0 ? Isolation::kNamespaces : Isolation::kUserNamespaces,
                   .view = std::move(view)};
  auto sandbox = Sandbox::Start(plan);
  if (!sandbox) return -1;
  pollfd ended{.fd = sandbox->pidfd(), .events = POLLIN, .revents = 0};
  poll(&ended, 1, -1);
  const Sandbox::Outcome how = sandbox->Reap();
  return how.wait_status && WIFEXITED(*how.wait_status) ? WEXITSTATUS(*how.wait_status) : -2;
}

/// Opens the path: 0, or errno.
int Open(const char* path) {
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return errno;
  close(file);
  return 0;
}

/// In a separate mount namespace, whose mounts are shared as on machines with systemd: mounts something on
/// the directory, starts a sandbox, unmounts it, and checks whether the sandbox unmounts it, too. 0: it does;
/// 100: we may not mount.
int UnmountBesideASandbox(const std::string& folder, std::vector<std::string> added = {}) {
  constexpr const char* kSource = "trainyard-file-view-test";  // its name in mountinfo
  if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount(nullptr, "/", nullptr, MS_REC | MS_SHARED, nullptr) != 0 ||
      mount(kSource, folder.c_str(), "tmpfs", 0, nullptr) != 0)
    return 100;
  pid_t init = 0;
  const SandboxPlan plan{.function = [] { return pause(); },
                         .isolation = Isolation::kNamespaces,
                         .view = {.added = std::move(added), .shared_memory = true},
                         .on_init =
                             [&](pid_t pid) {
                               init = pid;
                               return Status();
                             }};
  const std::string before = ReadFile("/proc/self/mountinfo").value_or("");
  const auto sandbox = Sandbox::Start(plan);
  if (!sandbox) return 1;
  const auto has = [&](const std::string& process) {
    return ReadFile("/proc/" + process + "/mountinfo").value_or("").find(kSource) != std::string::npos;
  };
  if (!has(std::to_string(init))) return 2;
  if (ReadFile("/proc/self/mountinfo") != before) return 5;  // mounts of the sandbox must not appear outside
  if (umount(folder.c_str()) != 0) return 3;
  return has(std::to_string(init)) ? 4 : 0;
}

TEST(FileView, LetsGoOfWhatTheMachineUnmounts) {
  std::string folder = "/tmp/file-view-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const pid_t child = fork();
  if (child == 0) _exit(UnmountBesideASandbox(folder));
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(rmdir(folder.c_str()), 0);
  if (WEXITSTATUS(status) == 100) GTEST_SKIP() << "needs root";
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

/// The same with a separate root: something is mounted in the machine's root itself.
TEST(FileView, LetsGoOfWhatIsUnmountedInTheRoot) {
  std::string folder = "/file-view-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) GTEST_SKIP() << "needs root";
  const pid_t child = fork();
  if (child == 0) _exit(UnmountBesideASandbox(folder, {"/trainyard-added"}));
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(rmdir(folder.c_str()), 0);
  if (WEXITSTATUS(status) == 100) GTEST_SKIP() << "needs root";
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

TEST(FileView, ForbiddenDevicesCannotBeOpened) {
  const int without = RunInside({}, [] { return Open("/dev/full"); });
  if (without == -1) GTEST_SKIP() << "no namespaces here";
  EXPECT_EQ(without, 0);
  const FileView view{.forbidden = {"/dev/full", "/dev/trainyard-is-not-there"}};
  EXPECT_EQ(RunInside(view, [] { return Open("/dev/full"); }), EACCES);
  EXPECT_EQ(RunInside(view, [] { return Open("/dev/zero"); }), 0) << "only those that were named";
  EXPECT_EQ(Open("/dev/full"), 0) << "only inside";
}

TEST(FileView, EmptiedDirectoriesShowNothing) {
  std::string folder = "/tmp/file-view-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string socket = folder + "/keeper.sock";
  ASSERT_EQ(mknod(socket.c_str(), S_IFSOCK | 0600, 0), 0);
  const FileView view{.emptied = {folder, "/run/trainyard-is-not-there"}};
  const int seen = RunInside(view, [&] {
    if (access(folder.c_str(), F_OK) != 0) return 1;
    if (access(socket.c_str(), F_OK) == 0 || errno != ENOENT) return 2;
    return mkdir((folder + "/x").c_str(), 0755) != 0 && errno == EROFS ? 0 : 3;
  });
  EXPECT_EQ(unlink(socket.c_str()), 0) << "it is there outside";
  EXPECT_EQ(rmdir(folder.c_str()), 0);
  if (seen == -1) GTEST_SKIP() << "no namespaces here";
  EXPECT_EQ(seen, 0);
}

TEST(FileView, BindsOfDataHaveNoDevicesAndNoSetuid) {
  std::string from = "/tmp/file-view-XXXXXX";
  ASSERT_NE(mkdtemp(from.data()), nullptr);
  const std::string to = from + "/seen";
  ASSERT_EQ(mkdir(to.c_str(), 0755), 0);
  const FileView view{.binds = {{.from = from, .to = to, .data_only = true}}};
  const int flags = RunInside(view, [&to] {
    struct statvfs found{};
    if (statvfs(to.c_str(), &found) != 0) return 100;
    return static_cast<int>(found.f_flag & (ST_NOSUID | ST_NODEV));
  });
  EXPECT_EQ(rmdir(to.c_str()), 0);
  EXPECT_EQ(rmdir(from.c_str()), 0);
  if (flags == -1) GTEST_SKIP() << "no namespaces here";
  EXPECT_EQ(flags, ST_NOSUID | ST_NODEV);
}

TEST(FileView, HasDirectoriesThatTheMachineHasNot) {
  std::string from = "/tmp/file-view-XXXXXX";
  ASSERT_NE(mkdtemp(from.data()), nullptr);
  const std::string added = "/" + from.substr(5);
  const FileView view{.added = {added}, .binds = {{.from = from, .to = added, .data_only = true}}};
  const int seen = RunInside(view, [&] {
    if (symlink("x", (added + "/link").c_str()) != 0) return 1;
    if (mkdir("/and-another", 0755) == 0 || errno != EROFS) return 2;
    struct stat root{};
    struct stat machine{};
    if (stat("/usr", &root) != 0 || access("/usr/bin/env", X_OK) != 0 || access("/proc/self/exe", F_OK) != 0)
      return 3;
    if (lstat("/bin", &root) != 0 || stat("/bin/sh", &machine) != 0) return 4;
    return access("/tmp", W_OK) == 0 && access("/dev/null", W_OK) == 0 ? 0 : 5;
  });
  struct stat found{};
  const bool written = lstat((from + "/link").c_str(), &found) == 0;
  unlink((from + "/link").c_str());
  EXPECT_EQ(rmdir(from.c_str()), 0);
  if (seen == -1) GTEST_SKIP() << "no namespaces here";
  EXPECT_EQ(seen, 0);
  EXPECT_TRUE(written) << "in the machine's own directory";
  EXPECT_NE(access(added.c_str(), F_OK), 0) << "only inside";
}

}  // namespace
}  // namespace trainyard::replica::file_view_test
