#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>

#include "base/async/file.h"
#include "programs/sandbox/cgroups/proc_figures.h"
#include "replica/supervisor/testing/attempt_fixture.h"

namespace trainyard::replica {
namespace {

using testing::Contains;

/// A trainer that leaves a daemon: two forks, a new session, ignores SIGTERM.
constexpr const char* kDaemonProgram = R"(
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
  os.setsid()
  if os.fork() == 0:
    os.closerange(0, 200)
    time.sleep(1000)
  os._exit(0)
os.wait()
print('daemon started', flush=True)
time.sleep(1000)
)";

/// In each test the parameter is the best isolation that may be used: 0 all namespaces, 3 none.
class StopTest : public AttemptFixture, public testing::WithParamInterface<int> {
 protected:
  StopTest() { options_ = {"--isolation=" + std::to_string(GetParam())}; }
  std::vector<pid_t> Processes() { return Descendants(supervisor_); }
  static void ExpectGone(const std::vector<pid_t>& processes) {
    for (const pid_t pid : processes) EXPECT_TRUE(WaitUntilGone(pid)) << pid;
  }
};

TEST_P(StopTest, SigtermFirst) {
  Program("trap 'echo saving; exit 7' TERM; echo up; while :; do sleep 0.01; done");
  Run();
  ASSERT_TRUE(WaitForLine("up"));
  Stop("cancelled by the user");
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.cause(), v1::ExitRecord::STOPPED);
  EXPECT_EQ(exit.exit_code(), 7);
  EXPECT_EQ(exit.message(), "cancelled by the user");
  EXPECT_THAT(Lines(), Contains("INFO saving"));
  EXPECT_THAT(Lines(), Contains("INFO Terminated by service. If the job is supposed to continue running, it "
                                "will be restarted on other "
                                "VM shortly."));
}

TEST_P(StopTest, DaemonsAreGoneWithinTheGracePeriod) {
  manifest_.mutable_limits()->set_stop_grace_ms(200);
  PythonProgram(kDaemonProgram);
  Run();
  ASSERT_TRUE(WaitForLine("daemon started"));
  const std::vector<pid_t> processes = Processes();
  ASSERT_GE(processes.size(), 3U);  // init, trainer, daemon
  Stop("cancelled");
  EXPECT_EQ(WaitForExit().cause(), v1::ExitRecord::STOPPED);
  ExpectGone(processes);
  Finish();
}

TEST_P(StopTest, KillDoesNotWait) {
  PythonProgram(kDaemonProgram);  // the grace period is 20 s, as long as the test waits
  Run();
  ASSERT_TRUE(WaitForLine("daemon started"));
  Stop("cancelled");
  Stop("cancelled", true);
  EXPECT_EQ(Finish().cause(), v1::ExitRecord::STOPPED);
}

TEST_P(StopTest, DaemonsEndWithTheProgram) {
  Program("(setsid sleep 1000 &) ; echo started");
  Run();
  EXPECT_EQ(Finish().cause(), v1::ExitRecord::EXITED);
  EXPECT_TRUE(Processes().empty());
}

TEST_P(StopTest, KilledSupervisorTakesEverythingWithIt) {
  PythonProgram(kDaemonProgram);
  Run();
  ASSERT_TRUE(WaitForLine("daemon started"));
  const std::vector<pid_t> processes = Processes();
  ASSERT_GE(processes.size(), 3U);
  kill(supervisor_, SIGKILL);
  waitpid(supervisor_, nullptr, 0);
  supervisor_ = -1;
  while (IsLocked(dir_).value_or(true)) sched_yield();  // the lock is released when all are gone
  ExpectGone(processes);
  EXPECT_EQ(ReadExit(dir_)->has_value(), false);
}

TEST_P(StopTest, KilledInitIsAKilledReplica) {
  PythonProgram(kDaemonProgram);
  Run();
  ASSERT_TRUE(WaitForLine("daemon started"));
  const std::vector<pid_t> processes = Processes();
  kill(processes.front(), SIGKILL);
  const v1::ExitRecord exit = WaitForExit();
  EXPECT_EQ(exit.cause(), v1::ExitRecord::SIGNALED);
  EXPECT_EQ(exit.signal(), SIGKILL);
  ExpectGone(processes);
  Finish();
}

TEST_P(StopTest, StopBeforeTheBarrier) {
  StartServer();
  StartSupervisor(options_);
  ASSERT_TRUE(WaitForPhase(v1::READY));
  Stop("maxWaitTime");
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.cause(), v1::ExitRecord::STOPPED);
  EXPECT_FALSE(exit.has_start_time());
}

TEST_P(StopTest, SystemShutdownStopsAndRecords) {
  Program("sleep 1000");
  Run();
  StopServer();
  kill(supervisor_, SIGTERM);
  ASSERT_TRUE(WaitForEnd(supervisor_fd_));
  const v1::ExitRecord exit = ReadExit(dir_)->value();
  EXPECT_EQ(exit.cause(), v1::ExitRecord::SHUT_DOWN);
  EXPECT_EQ(exit.message(), "the system asked the supervisor to end");
  EXPECT_EQ(exit.diagnosis().name(), "machine_shutdown");
  EXPECT_TRUE(exit.has_start_time());
  ExpectNothingLeft();
}

TEST_P(StopTest, AClustersNoticeEndsNothing) {
  Program("until [ -e go ]; do sleep 0.01; done; exit 3");
  Run();
  kill(supervisor_, SIGURG);
  std::ofstream(dir_.Work() + "/go") << "go";
  EXPECT_EQ(Finish().exit_code(), 3);
}

TEST_P(StopTest, SystemShutdownBeforeTheBarrier) {
  StartServer();
  StartSupervisor(options_);
  ASSERT_TRUE(WaitForPhase(v1::READY));
  kill(supervisor_, SIGTERM);
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.cause(), v1::ExitRecord::SHUT_DOWN);
  EXPECT_FALSE(exit.has_start_time());
}

TEST_P(StopTest, AProgramThatIsDoneWhenTheSystemShutsDownHasSucceeded) {
  Program("trap 'exit 0' TERM; echo up; while :; do sleep 0.01; done");
  Run();
  ASSERT_TRUE(WaitForLine("up"));
  kill(supervisor_, SIGTERM);
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.cause(), v1::ExitRecord::EXITED);
  EXPECT_EQ(exit.exit_code(), 0);
}

TEST_P(StopTest, WhoAsksFirstHasStoppedIt) {
  Program("trap '' TERM; echo up; until [ -e go ]; do sleep 0.01; done; exit 3");
  Run();
  ASSERT_TRUE(WaitForLine("up"));
  Stop("cancelled");
  ASSERT_TRUE(WaitForLine("Reason: cancelled"));
  kill(supervisor_, SIGTERM);
  std::ofstream(dir_.Work() + "/go") << "go";
  EXPECT_EQ(Finish().cause(), v1::ExitRecord::STOPPED);
}

/// Stopping a unit signals all of its processes at once.
TEST_P(StopTest, AProgramThatIsFasterThanItsSupervisorWasShutDownToo) {
  Program("echo up; exec sleep 1000");
  Run();
  ASSERT_TRUE(WaitForLine("up"));
  const std::vector<pid_t> processes = Processes();
  ASSERT_EQ(processes.size(), 2U);
  kill(supervisor_, SIGSTOP);
  kill(processes.back(), SIGTERM);
  ASSERT_TRUE(WaitUntilGone(processes.back()));
  kill(supervisor_, SIGTERM);
  kill(supervisor_, SIGCONT);
  EXPECT_EQ(Finish().cause(), v1::ExitRecord::SHUT_DOWN);
}

INSTANTIATE_TEST_SUITE_P(Isolations, StopTest, testing::Values(0, 1, 2, 3), [](const auto& row) {
  return std::string(std::array{"namespaces", "user_namespaces", "no_pid_namespace",
                                "none"}[static_cast<std::size_t>(row.param)]);
});

}  // namespace
}  // namespace trainyard::replica
