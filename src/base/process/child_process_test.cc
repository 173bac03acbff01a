#include "base/process/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/async/file.h"
#include "base/async/task_group.h"
#include "base/process/kernel_calls.h"
#include "base/process/program_pages.h"
#include "base/process/run_program.h"

namespace trainyard {
namespace {

using namespace std::string_view_literals;
using std::chrono::milliseconds;
constexpr milliseconds kLong{60'000};

SpawnOptions Shell(std::string script) {
  return {.argv = {"/bin/sh", "-c", std::move(script)}, .environment = {"PATH=/usr/bin:/bin", "NAME=value"}};
}

struct ScriptRow {
  const char* name;
  const char* script;
  ExitStatus status;
  const char* output;
};

class RunScript : public testing::TestWithParam<ScriptRow> {};

TEST_P(RunScript, EndsAs) {
  const Result<RunResult> result = RunProgram(Shell(GetParam().script), 1000, kLong);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->status, GetParam().status);
  EXPECT_EQ(result->output, GetParam().output);
  EXPECT_FALSE(result->truncated);
}

INSTANTIATE_TEST_SUITE_P(
    Scripts, RunScript,
    testing::Values(
        ScriptRow{"success", "exit 0", {.code = 0}, ""}, ScriptRow{"code", "exit 42", {.code = 42}, ""},
        ScriptRow{"signal", "kill -9 $$", {.signal = SIGKILL}, ""},
        ScriptRow{"both_outputs", "echo a; echo b >&2; echo c", {.code = 0}, "a\nb\nc\n"},
        ScriptRow{"environment_is_what_was_given", "env | grep -c .; echo $NAME", {.code = 0}, "3\nvalue\n"},
        ScriptRow{"stdin_is_empty", "cat", {.code = 0}, ""},
        ScriptRow{"leads_a_group", "[ $(ps -o pgid= -p $$) = $$ ] && echo yes", {.code = 0}, "yes\n"},
        ScriptRow{"term_is_not_blocked", "kill -15 $$; sleep 60", {.signal = SIGTERM}, ""},
        ScriptRow{"no_other_descriptors", "ls /proc/self/fd | wc -l", {.code = 0}, "4\n"}),
    [](const auto& row) { return row.param.name; });

TEST(RunProgram, OutputBeyondTheLimitIsDropped) {
  const Result<RunResult> result = RunProgram(Shell("head -c 300000 /dev/zero | tr '\\0' x"), 10, kLong);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->output, "xxxxxxxxxx");
  EXPECT_TRUE(result->truncated);
}

TEST(RunProgram, DeadlineKillsTheWholeGroup) {
  const Result<RunResult> result = RunProgram(Shell("sleep 1000 & sleep 1000"), 10, milliseconds(20));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kDeadlineExceeded);
}

TEST(RunProgram, DoesNotWaitForAGrandchildThatKeepsThePipe) {
  const Result<RunResult> result = RunProgram(Shell("setsid sleep 5 & echo done"), 10, milliseconds(4000));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->output, "done\n");
}

TEST(ChildProcess, SpawnSaysWhyItFailed) {
  const Result<ChildProcess> missing = ChildProcess::Spawn({.argv = {"/nonexistent/program"}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error(),
            (Error{Code::kNotFound, "start /nonexistent/program: No such file or directory", ""}));
  const Result<ChildProcess> folder =
      ChildProcess::Spawn({.argv = {"/bin/true"}, .directory = "/proc/nonexistent"});
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().message, "start /bin/true in /proc/nonexistent: No such file or directory");
  const Result<ChildProcess> not_executable = ChildProcess::Spawn({.argv = {"/etc/passwd"}});
  ASSERT_FALSE(not_executable);
  EXPECT_EQ(not_executable.error().code, Code::kPermissionDenied);
}

TEST(ChildProcess, DescriptorsMayBeSwapped) {
  std::array<int, 2> first{};
  std::array<int, 2> second{};
  ASSERT_EQ(::pipe2(first.data(), O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(second.data(), O_CLOEXEC), 0);
  SpawnOptions options = Shell("echo one >&3; echo two >&4");
  // The child's 3 is our write end of `first`, its 4 that of `second`, whatever numbers those have here.
  options.descriptors = {{second[1], 4}, {first[1], 3}};
  Result<ChildProcess> child = ChildProcess::Spawn(std::move(options));
  ASSERT_TRUE(child);
  ASSERT_EQ(child->WaitFor(kLong), (ExitStatus{.code = 0}));
  std::array<char, 16> text{};
  EXPECT_EQ(::read(first[0], text.data(), text.size()), 4);
  EXPECT_EQ(std::string(text.data(), 4), "one\n");
  EXPECT_EQ(::read(second[0], text.data(), text.size()), 4);
  EXPECT_EQ(std::string(text.data(), 4), "two\n");
  for (const int descriptor : {first[0], first[1], second[0], second[1]}) ::close(descriptor);
}

TEST(ChildProcess, ItsOomScoreMayBeTheUsualOne) {
  SpawnOptions options = Shell("read score < /proc/self/oom_score_adj; exit $score");
  options.usual_oom_score = true;
  const pid_t parent = fork();
  if (parent == 0) {  // a process without threads, to change its OOM score
    const UniqueFd file(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
    if (write(file.get(), "100", 3) != 3) _exit(3);
    auto child = ChildProcess::Spawn(std::move(options));
    const auto ended = child ? child->WaitFor(kLong) : std::unexpected(child.error());
    _exit(ended == ExitStatus{} ? 0 : 4);
  }
  auto forked = ChildProcess::Adopt(parent);
  ASSERT_TRUE(forked);
  EXPECT_EQ(forked->WaitFor(kLong), ExitStatus{});
}

TEST(ChildProcess, WaitForSaysThatItStillRuns) {
  Result<ChildProcess> child = ChildProcess::Spawn(Shell("sleep 1000"));
  ASSERT_TRUE(child);
  EXPECT_EQ(child->WaitFor(milliseconds(1)).error().code, Code::kDeadlineExceeded);
  EXPECT_TRUE(child->Kill(SIGTERM));
  EXPECT_EQ(child->WaitFor(kLong), (ExitStatus{.signal = SIGTERM}));
  EXPECT_EQ(child->Kill(SIGTERM).error().code, Code::kFailedPrecondition);
}

int Tell(int argc, char** argv) {
  const char* name = std::getenv("NAME");
  const char* path = std::getenv("PATH");
  std::string text = std::string(name == nullptr ? "" : name) + (path == nullptr ? "" : path);
  for (int i = 0; i < argc; ++i) text += " " + std::string(argv[i]);
  sigset_t blocked;
  ::sigprocmask(SIG_BLOCK, nullptr, &blocked);
  struct sigaction handled{};
  ::sigaction(SIGHUP, nullptr, &handled);
  if (sigismember(&blocked, SIGTERM) != 0 || handled.sa_handler != SIG_DFL) text += " signals";
  text +=
      '|' + ReadFile("/proc/self/cmdline").value_or("") + '|' + ReadFile("/proc/self/environ").value_or("");
  for (int number = 0; number < 1'000; ++number)
    if (::fcntl(number, F_GETFD) >= 0) text += ' ' + std::to_string(number);
  return WriteAll(5, text) ? 7 : 1;
}

TEST(ChildProcess, AForkedCommandLooksAsIfItHadBeenExecuted) {
  auto pipe = MakePipe();
  ASSERT_TRUE(pipe);
  const UniqueFd other(::fcntl(pipe->read.get(), F_DUPFD, 20));
  const sigset_t block = SignalSet({SIGTERM});
  ::sigprocmask(SIG_BLOCK, &block, nullptr);
  ::signal(SIGHUP, SIG_IGN);
  auto child = ChildProcess::Spawn({.argv = {"one", "two"},
                                    .program = "/bin/false",
                                    .environment = {"NAME=value"},
                                    .descriptors = {{pipe->write.get(), 5}},
                                    .main = Tell});
  ::sigprocmask(SIG_UNBLOCK, &block, nullptr);
  ::signal(SIGHUP, SIG_DFL);
  ASSERT_TRUE(child);
  pipe->write.Reset();
  std::array<char, 1'000> text{};
  const ssize_t size = ::read(pipe->read.get(), text.data(), text.size());
  ASSERT_GT(size, 0);
  EXPECT_EQ(std::string_view(text.data(), static_cast<std::size_t>(size)),
            "value one two|one\0two\0|NAME=value\0 0 1 2 5"sv);
  EXPECT_EQ(child->WaitFor(kLong), (ExitStatus{.code = 7}));
}

TEST(ProgramPages, AreFewAfterTheirRelease) {
  const auto resident = [] {
    const std::string status = ReadFile("/proc/self/status").value_or("");
    const std::size_t at = status.find("RssFile:");
    return at == std::string::npos ? 0 : std::strtol(status.c_str() + at + 8, nullptr, 10);
  };
  const long before = resident();
  ReleaseProgramPages();
  EXPECT_LT(resident(), before);
}

TEST(ChildProcess, DestructorEndsIt) {
  pid_t pid = -1;
  {
    const Result<ChildProcess> child = ChildProcess::Spawn(Shell("trap '' TERM; sleep 1000"));
    ASSERT_TRUE(child);
    pid = child->pid();
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST(ChildProcess, MayOutliveItsOwner) {
  pid_t pid = -1;
  {
    Result<ChildProcess> child = ChildProcess::Spawn(Shell("sleep 1000"));
    ASSERT_TRUE(child);
    pid = child->pid();
    EXPECT_TRUE(std::move(*child).Detach());
  }
  EXPECT_EQ(::kill(pid, 0), 0);
  EXPECT_EQ(::kill(pid, SIGKILL), 0);
}

asio::awaitable<void> WaitAndNote(ChildProcess& child, std::string& note) {
  try {
    const Result<ExitStatus> status = co_await child.Wait();
    note = status ? "code " + std::to_string(status->code) : status.error().message;
  } catch (const boost::system::system_error&) {
    note = "cancelled";
  }
}

TEST(ChildProcess, WaitResumesOnTheLoop) {
  asio::io_context loop;
  Result<ChildProcess> child = ChildProcess::Spawn(Shell("exit 7"));
  ASSERT_TRUE(child);
  std::string note;
  TaskGroup tasks(loop.get_executor());
  tasks.Spawn(WaitAndNote(*child, note));
  loop.run();
  EXPECT_EQ(note, "code 7");
}

TEST(ChildProcess, CancelledWaitLeavesItAlone) {
  asio::io_context loop;
  Result<ChildProcess> child = ChildProcess::Spawn(Shell("sleep 1000"));
  ASSERT_TRUE(child);
  std::string note;
  TaskGroup tasks(loop.get_executor());
  tasks.Spawn(WaitAndNote(*child, note));
  loop.poll();
  tasks.Cancel();
  loop.run();
  EXPECT_EQ(note, "cancelled");
  EXPECT_EQ(::kill(child->pid(), 0), 0);
}

}  // namespace
}  // namespace trainyard
