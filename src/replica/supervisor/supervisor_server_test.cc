#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>

#include "base/async/file.h"
#include "programs/sandbox/cgroups/proc_figures.h"
#include "replica/supervisor/testing/attempt_fixture.h"

namespace trainyard::replica {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::uintmax_t FolderBytes(const std::string& path) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(path)) bytes += entry.file_size();
  return bytes;
}

/// Servers that are stopped and restarted, lines that wait, disks that fill up.
class ServerTest : public AttemptFixture {
 protected:
  /// A program that prints numbered lines and ends when a file appears.
  void CountingProgram(int lines) {
    Program("i=0; while [ $i -lt " + std::to_string(lines) +
            " ]; do echo $i; i=$((i+1)); done; until [ -e go ]; do sleep 0.005; done; echo end");
  }
  void LetProgramEnd() { std::ofstream(dir_.Work() + "/go") << "go"; }
  void ExpectCount(int lines) {
    const std::vector<std::string> found = UserLines();
    ASSERT_EQ(found.size(), static_cast<std::size_t>(lines) + 1);
    for (int i = 0; i < lines; ++i)
      ASSERT_EQ(found[static_cast<std::size_t>(i)], "INFO " + std::to_string(i));
    EXPECT_EQ(found.back(), "INFO end");
  }
};

TEST_F(ServerTest, GoneForTheWholeRunLosesNothing) {
  CountingProgram(1000);
  Run();
  ASSERT_TRUE(WaitForLine("0"));
  StopServer();
  LetProgramEnd();
  while (!ReadExit(dir_)->has_value()) sched_yield();
  StartServer();
  EXPECT_EQ(Finish().cause(), v1::ExitRecord::EXITED);
  ExpectCount(1000);
}

TEST_F(ServerTest, WhoseFolderWasRemovedEndsByItself) {
  Program("echo hello");
  Run();
  WaitForExit();
  StopServer();
  fs::remove_all(dir_.path);
  int status = 0;
  ASSERT_EQ(waitpid(supervisor_, &status, 0), supervisor_);
  supervisor_ = -1;
  EXPECT_TRUE(WIFEXITED(status)) << status;
}

TEST_F(ServerTest, StartsBeforeTheServer) {
  StartSupervisor();
  while (!fs::exists(dir_.Spool())) sched_yield();
  StartServer();
  OpenBarrier();
  EXPECT_EQ(Finish().exit_code(), 0);
}

TEST_F(ServerTest, ComesBackInEveryPhase) {
  CountingProgram(10);
  PreparedBy(
      "until [ -e built ]; do sleep 0.005; done; mkdir bin; echo '#!/bin/sh' > bin/python; echo 'echo 0; "
      "until [ -e go ]; do sleep "
      "0.005; done; echo end' >> bin/python; chmod +x bin/python");
  const auto reconnects_with = [this](v1::Phase phase) {
    const auto count = [phase](const FakeServer::Memory& memory) {
      return std::ranges::count_if(memory.frames,
                                   [phase](const auto& frame) { return frame.hello().phase() == phase; });
    };
    std::ptrdiff_t before = 0;
    ASSERT_TRUE(server_->WaitFor([&](const auto& memory) { return (before = count(memory), true); }));
    server_->CutConnection();
    EXPECT_TRUE(server_->WaitFor([&](const auto& memory) { return count(memory) > before; })) << phase;
  };
  StartServer();
  StartSupervisor();
  ASSERT_TRUE(WaitForPhase(v1::PREPARING));
  reconnects_with(v1::PREPARING);
  std::ofstream(folder_.path() + "/environments/rt/built") << "yes";
  ASSERT_TRUE(WaitForPhase(v1::READY));
  reconnects_with(v1::READY);
  OpenBarrier();
  reconnects_with(v1::RUNNING);
  OpenBarrier();  // the server may send it again: nothing happens
  LetProgramEnd();
  WaitForExit();
  reconnects_with(v1::ENDED);
  Finish();
  EXPECT_THAT(UserLines(), ElementsAre("INFO 0", "INFO end"));
}

TEST_F(ServerTest, UnacknowledgedLinesAreSentAgain) {
  CountingProgram(100);
  Run();
  ASSERT_TRUE(WaitForLine("99"));
  server_->Acknowledge(false);
  LetProgramEnd();
  WaitForExit();
  server_->Acknowledge(true);
  ASSERT_TRUE(WaitForLine("Task completed successfully."));
  Finish();
  ExpectCount(100);
}

TEST_F(ServerTest, AFullSpoolHoldsTheProgramBack) {
  memory_->acknowledges = false;
  options_ = {"--spool-bytes-max=65536"};
  Program("echo begin; head -c 20000000 /dev/zero | tr '\\0' 'x' | fold -w 99; echo; echo end");
  Run();
  // Blocked: the spool is full and its size does not change, though 20 MB are to come.
  std::uintmax_t before = 0;
  for (std::uintmax_t now = 1; now != before || now < 65'536;) {
    before = now;
    usleep(100'000);
    now = FolderBytes(dir_.Spool());
  }
  EXPECT_LT(before, 65'536U + 3 * 128 * 1024);
  server_->Acknowledge(true);
  EXPECT_EQ(Finish().exit_code(), 0);
  std::size_t bytes = 0;
  for (const std::string& line : UserLines()) bytes += line.starts_with("INFO x") ? line.size() - 5 : 0;
  EXPECT_EQ(bytes, 20'000'000U);
}

/// A server that stays away costs lines, but does not stop the program.
TEST_F(ServerTest, AFullSpoolHoldsTheProgramBackForAWhileOnly) {
  memory_->acknowledges = false;
  options_ = {"--spool-bytes-max=65536", "--output-wait-max-ms=200"};
  Program("echo begin; head -c 20000000 /dev/zero | tr '\\0' 'x' | fold -w 99; echo; echo end");
  Run();
  ASSERT_EQ(WaitForExit().exit_code(), 0) << "with nobody to take its lines";
  EXPECT_LT(FolderBytes(dir_.Spool()), 65'536U + 3 * 128 * 1024);
  server_->Acknowledge(true);
  ASSERT_TRUE(WaitForLine("Task completed successfully."));
  const std::vector<std::string> lines = Lines();
  EXPECT_THAT(lines, Contains(HasSubstr("is not stored until storing works again")));
  EXPECT_THAT(lines, Contains(HasSubstr("bytes, are not in this log")));
  Finish();
}

/// Exactly the allowed output is kept, and the last lines about its end; the program does not notice.
TEST_F(ServerTest, BeyondItsLimitTheOutputIsDropped) {
  manifest_.mutable_limits()->set_log_bytes(100'000);
  Program("head -c 20000000 /dev/zero | tr '\\0' 'x' | fold -w 99; echo; echo 'the reason' >&2; exit 3");
  Run();
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.exit_code(), 3);
  std::size_t bytes = 0;
  for (const v1::LogLine& line : memory_->lines)
    bytes += line.text().starts_with("x") ? line.text().size() : 0;
  EXPECT_GT(bytes, 80'000U);
  EXPECT_LT(bytes, 100'000U);
  const std::vector<std::string> lines = Lines();
  EXPECT_THAT(
      lines,
      Contains(HasSubstr("From here on, this replica's output is not stored: its limit is 0.0001 GB")));
  EXPECT_THAT(lines, Contains(HasSubstr("of this replica's output, ")));
  EXPECT_THAT(lines, Contains(HasSubstr("returned non-zero exit status 3")));
}

TEST_F(ServerTest, AJobsFullLogIsTheServersToSay) {
  manifest_.mutable_limits()->set_job_log_bytes(1'000'000'000);
  CountingProgram(10);
  Run();
  ASSERT_TRUE(WaitForLine("9"));
  v1::ToReplica frame;
  frame.mutable_log_ack()->set_job_log_full(true);
  server_->Send(frame);
  server_->CutConnection();  // once the client sees that, it has read the frame
  ASSERT_TRUE(server_->WaitFor([](const FakeServer::Memory& memory) { return memory.connections == 2; }));
  LetProgramEnd();  // it writes another line
  Finish();
  EXPECT_THAT(Lines(),
              Contains(HasSubstr("1 line of this replica's output, 3 bytes, is not in this log: the "
                                 "limit of this job's log is 1 GB (trainyard serve --job-logs-max-gb).")));
}

TEST_F(ServerTest, AFullDiskLosesNothing) {
  const std::string disk = folder_.path() + "/attempts";
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=2m") != 0)
    GTEST_SKIP() << "needs root to make a small disk";
  fs::create_directory(dir_.path);
  CountingProgram(20'000);
  memory_->acknowledges = false;
  Run();
  const std::string filler = disk + "/filler";
  std::ofstream(filler) << std::string(2 << 20, 'x');  // uses up the rest
  while (ReadFile(SupervisorLog()).value_or("").find("No space left") == std::string::npos) sched_yield();
  server_->Acknowledge(true);
  fs::remove(filler);
  LetProgramEnd();
  WaitForExit();
  std::vector<std::string> lines = UserLines();
  EXPECT_THAT(lines, Contains(HasSubstr("output was delayed by")));
  std::erase_if(lines, [](const std::string& line) { return line.starts_with("WARNING "); });
  EXPECT_EQ(lines.size(), 20'001U);
  Dismiss();
  EXPECT_TRUE(WaitForEnd(supervisor_fd_));
  waitpid(supervisor_, nullptr, 0);
  supervisor_ = -1;
  EXPECT_EQ(umount2(disk.c_str(), MNT_DETACH), 0);
}

TEST_F(ServerTest, PreparationLogsDownloadsAndSucceeds) {
  auto& package = *manifest_.mutable_program()->add_packages();
  package.set_uri("gs://bucket/a/trainer-0.1.tar.gz");
  memory_->objects["bucket/a%2Ftrainer-0.1.tar.gz"] = std::string(300'000, 'p');
  PreparedBy(
      "[ $(stat -c %s package) = 300000 ] || exit 1; mkdir bin; printf '#!/bin/sh\\necho ran\\n' > "
      "bin/python; chmod +x bin/python");
  Run();
  Finish();
  EXPECT_EQ(Lines()[0], "INFO Downloading the package: gs://bucket/a/trainer-0.1.tar.gz");
  EXPECT_EQ(Lines()[1], "ERROR WARNING: pip is old");
  EXPECT_THAT(UserLines(), ElementsAre("INFO ran"));
}

TEST_F(ServerTest, SaysHowFarThePreparationHasComeToEachServer) {
  PreparedBy("sleep 1000");
  StartServer();
  StartSupervisor();
  const auto says = [this](std::ptrdiff_t times) {
    return server_->WaitFor([times](const FakeServer::Memory& memory) {
      return std::ranges::count_if(memory.frames, [](const v1::FromReplica& frame) {
               return frame.progress().what() == "Installing packages" && frame.progress().done() == 1 &&
                      frame.progress().total() == 2 && frame.progress().unit() == "packages";
             }) == times;
    });
  };
  ASSERT_TRUE(says(1));
  server_->CutConnection();
  ASSERT_TRUE(says(2));
  Stop("cancelled");
  Finish();
}

TEST_F(ServerTest, PreparationFailsWithTheToolsReason) {
  PreparedBy("exit 1");
  StartServer();
  StartSupervisor();
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.cause(), v1::ExitRecord::PREPARATION_FAILED);
  EXPECT_EQ(exit.message(), "pip: No matching distribution found for nosuchpkg");
  EXPECT_FALSE(exit.has_start_time());
  EXPECT_THAT(Lines(), Contains("ERROR pip: No matching distribution found for nosuchpkg"));
}

TEST_F(ServerTest, MissingPackageIsNamed) {
  manifest_.mutable_program()->add_packages()->set_uri("gs://bucket/none.tar.gz");
  PreparedBy("exit 0");
  StartServer();
  StartSupervisor();
  EXPECT_EQ(Finish().cause(), v1::ExitRecord::PREPARATION_FAILED);
}

TEST_F(ServerTest, StopDuringPreparationEndsItsProcesses) {
  PreparedBy("setsid sleep 1000 & sleep 1000");
  StartServer();
  StartSupervisor();
  ASSERT_TRUE(WaitForPhase(v1::PREPARING));
  while (Descendants(supervisor_).size() < 4) sched_yield();
  const std::vector<pid_t> processes = Descendants(supervisor_);
  Stop("cancelled");
  EXPECT_EQ(WaitForExit().cause(), v1::ExitRecord::STOPPED);
  for (const pid_t pid : processes) EXPECT_TRUE(WaitUntilGone(pid));
  Finish();
}

TEST_F(ServerTest, KilledDuringPreparationLeavesNothing) {
  PreparedBy("setsid sleep 1000 & sleep 1000");
  StartServer();
  StartSupervisor();
  while (Descendants(supervisor_).size() < 4) sched_yield();
  const std::vector<pid_t> processes = Descendants(supervisor_);
  kill(supervisor_, SIGKILL);
  waitpid(supervisor_, nullptr, 0);
  supervisor_ = -1;
  while (IsLocked(dir_).value_or(true)) sched_yield();
  for (const pid_t pid : processes) EXPECT_TRUE(WaitUntilGone(pid));
}

}  // namespace
}  // namespace trainyard::replica
