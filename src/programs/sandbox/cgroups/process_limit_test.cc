#include "programs/sandbox/cgroups/process_limit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace trainyard::replica {
namespace {

struct Row {
  const char* name;
  const char* release;
  bool new_enough;
};

class ReleaseTest : public testing::TestWithParam<Row> {};

TEST_P(ReleaseTest, IsCompared) {
  EXPECT_EQ(IsReleaseAtLeast(GetParam().release, 6, 14), GetParam().new_enough);
}

INSTANTIATE_TEST_SUITE_P(Releases, ReleaseTest,
                         testing::Values(Row{"debian_12", "6.1.0-18-amd64", false},
                                         Row{"same", "6.14.0", true}, Row{"later_minor", "6.18.44-x", true},
                                         Row{"later_major", "7.0.1", true},
                                         Row{"earlier_major", "5.19", false}, Row{"short", "6.14", true},
                                         Row{"no_minor", "6.", false}, Row{"only_major", "7", false},
                                         Row{"empty", "", false}, Row{"words", "linux", false}),
                         [](const auto& row) { return row.param.name; });

TEST(ProcessLimit, HasNoBoundBelowWhatTheKernelTakes) { EXPECT_FALSE(CanLimitNamespace(300)); }

TEST(ProcessLimit, OfAUserNeverGrows) {
  const pid_t pid = fork();
  if (pid == 0) {
    if (!LimitUser(5'000) || !LimitUser(6'000)) _exit(1);
    rlimit limit{};
    getrlimit(RLIMIT_NPROC, &limit);
    _exit(limit.rlim_max <= 5'000 && limit.rlim_cur <= limit.rlim_max ? 0 : 1);
  }
  int status = -1;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace trainyard::replica
