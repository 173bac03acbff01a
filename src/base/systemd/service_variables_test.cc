#include "base/systemd/service_variables.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace trainyard::systemd {
namespace {

using Names = std::vector<std::string>;
using std::chrono::microseconds;

struct Row {
  const char* name;
  const char* pid;
  const char* count;
  const char* names;
  Names expected;
};
class NamesOfKeptOf : public testing::TestWithParam<Row> {};
TEST_P(NamesOfKeptOf, Texts) {
  const Row& row = GetParam();
  EXPECT_EQ(NamesOfKept(row.pid, row.count, row.names, 7), row.expected);
}
INSTANTIATE_TEST_SUITE_P(
    Texts, NamesOfKeptOf,
    testing::Values(Row{"two", "7", "2", "a:b", {"a", "b"}}, Row{"not_set", nullptr, nullptr, nullptr, {}},
                    Row{"of_another_process", "8", "2", "a:b", {}},
                    Row{"without_names", "7", "2", nullptr, {"unknown", "unknown"}},
                    Row{"fewer_names", "7", "3", "a", {"a", "unknown", "unknown"}},
                    Row{"more_names", "7", "1", "a:b", {"a"}}, Row{"none", "7", "0", "", {}},
                    Row{"an_empty_name", "7", "2", ":b", {"unknown", "b"}},
                    Row{"no_number", "7", "two", "a:b", {}}, Row{"negative", "7", "-1", "a", {}},
                    Row{"absurd", "7", "999999", "a", {}}, Row{"trailing", "7x", "1", "a", {}}),
    [](const auto& row) { return row.param.name; });

TEST(WatchdogWaitOf, Texts) {
  EXPECT_EQ(WatchdogWait("7", "30000000", 7), microseconds(30'000'000));
  EXPECT_EQ(WatchdogWait(nullptr, "5", 7), microseconds(5)) << "without a pid it is for everybody";
  EXPECT_EQ(WatchdogWait("8", "5", 7), std::nullopt);
  EXPECT_EQ(WatchdogWait("7", nullptr, 7), std::nullopt);
  EXPECT_EQ(WatchdogWait("7", "0", 7), std::nullopt);
  EXPECT_EQ(WatchdogWait("7", "soon", 7), std::nullopt);
}

/// The descriptors must have the manager's numbers, so the test uses a child process.
int TakeInAChild() {
  const int null = ::open("/dev/null", O_RDONLY);
  if (null != 3 && ::dup2(null, 3) != 3) return 2;
  if (::dup2(3, 4) != 4) return 2;
  ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
  ::setenv("LISTEN_FDS", "2", 1);
  ::setenv("LISTEN_FDNAMES", "first:second", 1);
  const std::vector<KeptDescriptor> kept = TakeKeptDescriptors();
  const bool taken = kept.size() == 2 && kept[0].name == "first" && kept[0].descriptor.get() == 3 &&
                     kept[1].name == "second" && kept[1].descriptor.get() == 4;
  const bool closes = taken && (::fcntl(3, F_GETFD) & FD_CLOEXEC) != 0 && (::fcntl(4, F_GETFD) & FD_CLOEXEC);
  const bool unset = std::getenv("LISTEN_PID") == nullptr && std::getenv("LISTEN_FDS") == nullptr &&
                     std::getenv("LISTEN_FDNAMES") == nullptr;
  return closes && unset && TakeKeptDescriptors().empty() ? 0 : 1;
}

TEST(TakeKept, OwnsThemAndLeavesNoVariables) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(TakeInAChild());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace trainyard::systemd
