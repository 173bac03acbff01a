#include "programs/sandbox/namespaces/own_view.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/async/file.h"
#include "programs/sandbox/namespaces/namespace_check.h"

namespace trainyard::replica {
namespace {

/// Runs `look` in a process with a private view; returns its exit code.
int InOwnView(const FileView& view, const std::string& hosts, int (*look)()) {
  const pid_t child = fork();
  if (child == 0) _exit(EnterOwnView(view, hosts) ? look() : 99);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(EnterOwnView, IsSeenInsideOnly) {
  if (const Status namespaces = CheckUserNamespaces(); !namespaces)
    GTEST_SKIP() << namespaces.error().message;
  const std::string before = ReadFile("/etc/hosts").value_or("");
  const uid_t uid = geteuid();
  EXPECT_EQ(InOwnView({}, "127.0.0.9 inside\n",
                      [] { return ReadFile("/etc/hosts") == "127.0.0.9 inside\n" ? 0 : 1; }),
            0);
  EXPECT_EQ(InOwnView({.binds = {{.from = "/etc/hosts", .to = "/etc/passwd", .read_only = true}}}, "ours\n",
                      [] { return access("/tmp/hosts", F_OK) == 0 ? 1 : 0; }),
            0);
  EXPECT_EQ(ReadFile("/etc/hosts").value_or(""), before);
  EXPECT_EQ(geteuid(), uid);
}

TEST(EnterOwnView, SaysWhatIsMissing) {
  if (const Status namespaces = CheckUserNamespaces(); !namespaces)
    GTEST_SKIP() << namespaces.error().message;
  EXPECT_EQ(InOwnView({.binds = {{.from = "/no/such/file", .to = "/etc/passwd"}}}, "", [] { return 0; }), 99);
}

}  // namespace
}  // namespace trainyard::replica
