#include "replica/file_view.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "replica/sandbox.h"

namespace trainyard::replica {
namespace {

/// What the function returns in a sandbox with the view; -1 where the machine lets us have none.
int RunInside(FileView view, std::function<int()> function) {
  SandboxPlan plan{.function = std::move(function),
                   .fence = geteuid() == 0 ? Fence::kNamespaces : Fence::kUserNamespaces,
                   .view = std::move(view)};
  auto sandbox = Sandbox::Start(plan);
  if (!sandbox) return -1;
  pollfd ended{.fd = sandbox->pidfd(), .events = POLLIN, .revents = 0};
  poll(&ended, 1, -1);
  const Sandbox::Ended how = sandbox->Reap();
  return how.wait_status && WIFEXITED(*how.wait_status) ? WEXITSTATUS(*how.wait_status) : -2;
}

/// 0, or the errno of opening it.
int Open(const char* path) {
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return errno;
  close(file);
  return 0;
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

}  // namespace
}  // namespace trainyard::replica
