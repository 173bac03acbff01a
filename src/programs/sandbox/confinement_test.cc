#include "programs/sandbox/confinement.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <string>

#include "base/async/file.h"
#include "rules/container/rights.h"

namespace trainyard::replica::confinement_test {
namespace {

/// Runs the function in a confined child process. The result 0 means success.
int RunConfined(Rights rights, const std::function<int()>& run) {
  const pid_t pid = fork();
  if (pid == 0) {
    const auto failure = Confine(rights);
    _exit(failure ? 100 + failure->error % 100 : run());
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// A line of /proc/self/status, as a number of base 16.
std::uint64_t Status(const std::string& name) {
  const std::string text = ReadFile("/proc/self/status").value_or("");
  const std::size_t at = text.find("\n" + name + ":");
  return at == std::string::npos ? ~std::uint64_t{0}
                                 : std::strtoull(text.c_str() + at + name.size() + 2, nullptr, 16);
}

TEST(Confinement, LeavesTheRightsOfAContainer) {
  std::uint64_t kept = 0;
  for (const container::Right& right : container::kRights) kept |= std::uint64_t{1} << right.number;
  const bool root = geteuid() == 0;
  EXPECT_EQ(RunConfined(Rights::kContainer,
                        [&] {
                          if (Status("NoNewPrivs") != 1) return 1;
                          if (Status("Seccomp") != 2) return 2;
                          if (Status("CapInh") != 0 || Status("CapAmb") != 0) return 3;
                          if (Status("CapPrm") != (root ? kept : 0) || Status("CapEff") != (root ? kept : 0))
                            return 4;
                          return root && Status("CapBnd") != kept ? 5 : 0;
                        }),
            0);
}

TEST(Confinement, LeavesNoRights) {
  EXPECT_EQ(RunConfined(Rights::kNone,
                        [] {
                          if (Status("CapPrm") != 0 || Status("CapEff") != 0) return 1;
                          return geteuid() == 0 && Status("CapBnd") != 0 ? 2 : 0;
                        }),
            0);
}

TEST(Confinement, RefusesWhatReachesOutside) {
  EXPECT_EQ(
      RunConfined(
          Rights::kContainer,
          [] {
            const auto refused = [](long result) { return result == -1 && errno == EPERM; };
            if (!refused(unshare(CLONE_NEWUSER)) || !refused(unshare(CLONE_NEWNET))) return 1;
            if (!refused(mount("tmpfs", "/tmp", "tmpfs", 0, nullptr))) return 2;
            if (!refused(socket(AF_PACKET, SOCK_RAW, 0)) || !refused(socket(AF_INET, SOCK_RAW, 1))) return 3;
            if (!refused(syscall(SYS_keyctl, 0, -3, 0, 0, 0)) || !refused(syscall(SYS_bpf, 0, nullptr, 0)))
              return 4;
            if (!refused(syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0))) return 5;
            if (!refused(syscall(SYS_userfaultfd, 0)) || !refused(syscall(SYS_io_uring_setup, 1, nullptr)))
              return 6;
            errno = 0;
            if (syscall(SYS_clone3, nullptr, 0) != -1 || errno != ENOSYS) return 7;
            return syscall(4000) == -1 && errno == ENOSYS ? 0 : 8;
          }),
      0);
}

TEST(Confinement, LetsWork) {
  EXPECT_EQ(RunConfined(Rights::kContainer,
                        [] {
                          const pid_t child = fork();
                          if (child == 0) _exit(7);
                          int status = 0;
                          if (child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7)
                            return 1;
                          const int udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
                          if (udp < 0) return 2;
                          return execl("/bin/true", "true", nullptr);
                        }),
            0);
}

TEST(Confinement, IsForEver) {
  EXPECT_EQ(RunConfined(Rights::kContainer,
                        [] {
                          if (prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0) return 1;
                          if (Confine(Rights::kNone)) return 2;  // again, and less
                          return Status("CapEff") == 0 ? 0 : 3;
                        }),
            0);
}

}  // namespace
}  // namespace trainyard::replica::confinement_test
