#include "base/process/run_tool.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "base/async/unique_fd.h"

namespace trainyard::run_tool_test {
namespace {

ToolCommand Shell(std::string script) { return {{"/bin/sh", "-c", std::move(script)}, {}}; }

TEST(RunTool, PassesLinesOnAndKeepsTheTail) {
  std::vector<std::string> out, err;
  const auto end = RunTool(
      Shell("echo one; printf '10%%\\r20%%\\rlast'; echo bad >&2; exit 3"),
      [&](std::string_view line) { out.emplace_back(line); },
      [&](std::string_view line) { err.emplace_back(line); }, {});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_EQ(end->signal, 0);
  EXPECT_EQ(out, (std::vector<std::string>{"one", "10%", "20%", "last"}));
  EXPECT_EQ(err, (std::vector<std::string>{"bad"}));
  EXPECT_EQ(end->tail.size(), 5U);
}

TEST(RunTool, PassesInputAndOutputAsTheyAre) {
  const UniqueFd input(::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  const UniqueFd output(::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  ASSERT_EQ(::pwrite(input.get(), "a\r\n\n b", 6, 0), 6);
  ToolCommand command = Shell("cat; echo remark >&2");
  command.input = input.get();
  command.output = output.get();
  std::vector<std::string> out;
  const auto end = RunTool(command, [&](std::string_view line) { out.emplace_back(line); }, {}, {});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->tail, std::vector<std::string>{"remark"});
  EXPECT_TRUE(out.empty());
  std::string copied(16, '\0');
  copied.resize(static_cast<std::size_t>(::pread(output.get(), copied.data(), copied.size(), 0)));
  EXPECT_EQ(copied, "a\r\n\n b");
}

TEST(RunTool, BoundsTheTailAndTheLine) {
  const auto end = RunTool(
      Shell("i=0; while [ $i -lt 500 ]; do echo $i; i=$((i+1)); done; head -c 100000 /dev/zero"), {}, {}, {});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->tail.size(), kToolTailMax);
  EXPECT_EQ(end->tail[kToolTailMax - 3], "499");
  EXPECT_EQ(end->tail[kToolTailMax - 2].size(), 65536U);
}

TEST(RunTool, ReportsSignals) {
  const auto end = RunTool(Shell("kill -9 $$"), {}, {}, {});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->signal, SIGKILL);
  EXPECT_FALSE(end->ok());
}

TEST(RunTool, SetsAndRemovesVariables) {
  ToolCommand command = Shell("echo \"$TY_SET-${HOME-none}\"");
  command.variables = {{"TY_SET", "x"}, {"HOME", std::nullopt}};
  const auto end = RunTool(command, {}, {}, {});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->tail, (std::vector<std::string>{"x-none"}));
}

TEST(RunTool, GivesOneDescriptorOnly) {
  const UniqueFd given(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd other(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ToolCommand command = Shell("for fd in " + std::to_string(given.get()) + " " + std::to_string(other.get()) +
                              "; do [ -e /proc/self/fd/$fd ] && echo yes || echo no; done");
  command.inherited = given.get();
  const auto end = RunTool(command, {}, {}, {});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->tail, (std::vector<std::string>{"yes", "no"}));
}

TEST(RunTool, SaysWhatCannotBeRun) {
  const auto end = RunTool({{"/nonexistent/tool"}, {}}, {}, {}, {});
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error(), NotFound("cannot run /nonexistent/tool: No such file or directory"));
}

TEST(RunTool, StopKillsTheWholeGroup) {
  std::stop_source stop;
  UniqueFd grandchild;
  const auto end = RunTool(
      Shell("sleep 1000 & echo $!; wait"),
      [&](std::string_view line) {
        grandchild.Reset(static_cast<int>(::syscall(SYS_pidfd_open, std::stoi(std::string(line)), 0)));
        stop.request_stop();
      },
      {}, stop.get_token());
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, Code::kCancelled);
  // A process closes its pipe shortly before it has ended, so its end is waited for.
  pollfd ended{.fd = grandchild.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&ended, 1, 60'000), 1);
  EXPECT_FALSE(RunTool(Shell("true"), {}, {}, stop.get_token()));
}

TEST(RunTool, DiesWithItsParent) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    ToolCommand command = Shell("echo started >&" + std::to_string(ends[1]) + "; exec sleep 1000");
    command.inherited = ends[1];
    static_cast<void>(RunTool(command, {}, {}, {}));
    ::_exit(0);
  }
  ::close(ends[1]);
  char buffer[8];
  ASSERT_EQ(::read(ends[0], buffer, sizeof buffer), 8);
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  EXPECT_EQ(::read(ends[0], buffer, sizeof buffer), 0);  // ends when the tool, the last holder, is gone
  ::close(ends[0]);
}

}  // namespace
}  // namespace trainyard::run_tool_test
