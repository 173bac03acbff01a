#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/async/file.h"
#include "programs/attempt/spool.h"
#include "programs/sandbox/cgroups/proc_figures.h"
#include "replica/supervisor/lifecycle.h"
#include "replica/supervisor/testing/attempt_fixture.h"

namespace trainyard::replica {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// Disks that are full, damaged or removed.
class TroubleTest : public AttemptFixture {
 protected:
  ~TroubleTest() override {
    if (disk_.empty()) return;
    if (supervisor_ > 0) {
      kill(supervisor_, SIGKILL);
      waitpid(supervisor_, nullptr, 0);
      supervisor_ = -1;
    }
    umount2(disk_.c_str(), MNT_DETACH);
  }

  /// False: needs root.
  bool MakeSmallDisk(const char* options) {
    disk_ = folder_.path() + "/attempts";
    if (mount("tmpfs", disk_.c_str(), "tmpfs", 0, options) != 0) return false;
    fs::create_directory(dir_.path);
    return true;
  }
  /// Uses up all bytes and all inodes.
  void FillDisk() {
    fs::create_directory(Filler());
    std::ofstream(Filler() + "/bytes") << std::string(4 << 20, 'x');
    constexpr int kInodes = 64;  // more than a small disk has, if it has few
    for (int i = 0; i < kInodes; ++i) std::ofstream(Filler() + "/" + std::to_string(i)).close();
  }
  void EmptyDisk() { fs::remove_all(Filler()); }
  std::string Filler() const { return disk_ + "/filler"; }
  void WaitForDiskRefusal() {
    while (ReadFile(SupervisorLog()).value_or("").find("No space left") == std::string::npos) sched_yield();
  }
  void SendCluster() {
    v1::ToReplica frame;
    *frame.mutable_cluster() = cluster_;
    server_->Send(frame);
  }
  /// A path that the program can see, and that is not on the small disk.
  std::string Go() const { return folder_.path() + "/environments/go"; }
  std::string UntilGo() const { return "until [ -e " + Go() + " ]; do sleep 0.005; done; "; }
  v1::ExitRecord FinishOnSmallDisk() {
    const v1::ExitRecord exit = WaitForExit();
    Dismiss();
    EXPECT_TRUE(WaitForEnd(supervisor_fd_));
    waitpid(supervisor_, nullptr, 0);
    supervisor_ = -1;
    return exit;
  }

  std::string disk_;
};

class FullDiskTest : public TroubleTest, public testing::WithParamInterface<const char*> {};

/// A launch that fails because of the disk is not the program's failure, and no reason to isolate less.
TEST_P(FullDiskTest, AProgramWaitsForItAndThenRunsIsolated) {
  if (!MakeSmallDisk(GetParam())) GTEST_SKIP() << "needs root to make a small disk";
  Program("[ -e " + dir_.Manifest() + " ] && echo sees the attempt || echo is isolated");
  StartServer();
  StartSupervisor();
  ASSERT_TRUE(WaitForPhase(v1::READY));
  FillDisk();
  SendCluster();
  WaitForDiskRefusal();
  EmptyDisk();
  ASSERT_TRUE(WaitForPhase(v1::RUNNING));
  const v1::ExitRecord exit = FinishOnSmallDisk();
  EXPECT_EQ(exit.cause(), v1::ExitRecord::EXITED);
  EXPECT_EQ(exit.exit_code(), 0);
  EXPECT_THAT(UserLines(), Contains("INFO is isolated"));
  EXPECT_THAT(Lines(), Contains(HasSubstr("Waiting to start the replica: its machine lacks a resource")));
}

TEST_P(FullDiskTest, AWaitingProgramCanBeStopped) {
  if (!MakeSmallDisk(GetParam())) GTEST_SKIP() << "needs root to make a small disk";
  Program("echo it ran");
  StartServer();
  StartSupervisor();
  ASSERT_TRUE(WaitForPhase(v1::READY));
  FillDisk();
  SendCluster();
  WaitForDiskRefusal();
  Stop("cancelled");
  EmptyDisk();
  const v1::ExitRecord exit = FinishOnSmallDisk();
  // It may have ended before the stop.
  EXPECT_THAT(exit.cause(), testing::AnyOf(v1::ExitRecord::STOPPED, v1::ExitRecord::EXITED));
}

INSTANTIATE_TEST_SUITE_P(Kinds, FullDiskTest, testing::Values("size=256k", "size=64m,nr_inodes=30"),
                         [](const auto& row) { return row.index == 0 ? "bytes" : "inodes"; });

TEST_F(TroubleTest, WhatWasWrittenBeforeTheEndWaitsForAFullDisk) {
  constexpr int kLines = 1000;
  if (!MakeSmallDisk("size=256k")) GTEST_SKIP() << "needs root to make a small disk";
  Program("echo up; " + UntilGo() + "i=0; while [ $i -lt " + std::to_string(kLines) +
          " ]; do echo $i; i=$((i+1)); done");
  Run();
  ASSERT_TRUE(WaitForLine("up"));
  const std::vector<pid_t> processes = Descendants(supervisor_);
  FillDisk();
  std::ofstream(Go()) << "go";
  for (const pid_t pid : processes) ASSERT_TRUE(WaitUntilGone(pid));
  usleep(std::chrono::microseconds(kDrainMax + kDrainMax / 5).count());  // longer than kDrainMax
  EmptyDisk();
  EXPECT_EQ(FinishOnSmallDisk().exit_code(), 0);
  std::vector<std::string> lines = UserLines();
  std::erase_if(lines, [](const std::string& line) { return line.starts_with("WARNING "); });
  ASSERT_EQ(lines.size(), std::size_t{kLines} + 1);
  for (int i = 0; i < kLines; ++i)
    ASSERT_EQ(lines[static_cast<std::size_t>(i) + 1], "INFO " + std::to_string(i));
}

/// Like a record that the disk returns with other contents than were written.
TEST_F(TroubleTest, ADamagedRecordIsPassedOverAndSaid) {
  Program("echo hello; " + UntilGo() + "echo end");
  memory_->acknowledges = false;
  Run();
  const std::string segment = dir_.Spool() + "/0000000000000000.log";
  std::size_t at = std::string::npos;
  while ((at = ReadFile(segment).value_or("").find("hello")) == std::string::npos) sched_yield();
  std::ofstream(Go()) << "go";
  while (!ReadExit(dir_)->has_value()) sched_yield();
  std::fstream(segment, std::ios::in | std::ios::out | std::ios::binary).seekp(static_cast<long>(at)) << "?";
  server_->Acknowledge(true);
  ASSERT_TRUE(WaitForLine("Task completed successfully."));
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.exit_code(), 0);
  const std::vector<std::string> lines = Lines();
  EXPECT_THAT(lines,
              Contains("ERROR Line 4 is not in this log: the disk lost it before the server received it."));
  EXPECT_THAT(lines, Not(Contains("INFO hello")));
  EXPECT_THAT(lines, Contains("INFO end"));
  EXPECT_EQ(exit.log_lines(), static_cast<std::int64_t>(lines.size()));
}

TEST_F(AttemptFixture, APreparationThatIsKilledIsALostReplica) {
  PreparedBy("sleep 1000");
  StartServer();
  StartSupervisor();
  ASSERT_TRUE(WaitForPhase(v1::PREPARING));
  while (Descendants(supervisor_).empty()) sched_yield();
  for (const pid_t pid : Descendants(supervisor_)) kill(pid, SIGKILL);
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.cause(), v1::ExitRecord::LOST) << exit.DebugString();
  EXPECT_THAT(exit.message(), HasSubstr("killed"));
  EXPECT_EQ(exit.diagnosis().name(), "killed_before_start");
}

TEST_F(AttemptFixture, APreparationThatNeedsTooMuchMemoryIsNotStartedAgain) {
  if (manifest_.places().cgroup_version() == 0) GTEST_SKIP() << "no groups without a server here";
  manifest_.mutable_limits()->set_memory_bytes(64 << 20);
  PreparedBy("exec python3 -c 'bytes([1]) * (200 << 20)'");
  StartServer();
  StartSupervisor();
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.cause(), v1::ExitRecord::PREPARATION_FAILED) << exit.DebugString();
  EXPECT_THAT(exit.message(), HasSubstr("more memory"));
}

/// The directory was removed: another attempt of the replica may have begun.
class RemovedDirectoryTest : public AttemptFixture {
 protected:
  void RemoveDirectory() {
    const std::vector<pid_t> processes = Descendants(supervisor_);
    std::error_code error;  // the supervisor may make a file meanwhile
    do {
      fs::remove_all(dir_.path, error);
    } while (error);
    int status = 0;
    EXPECT_TRUE(WaitForEnd(supervisor_fd_));
    ASSERT_EQ(waitpid(supervisor_, &status, WNOHANG), supervisor_);
    supervisor_ = -1;
    EXPECT_TRUE(WIFEXITED(status)) << status;
    for (const pid_t pid : processes) EXPECT_TRUE(WaitUntilGone(pid));
  }
};

TEST_F(RemovedDirectoryTest, EndsARunningProgramWithTheServer) {
  Program("echo up; exec sleep 1000");
  Run();
  ASSERT_TRUE(WaitForLine("up"));
  RemoveDirectory();
}

TEST_F(RemovedDirectoryTest, EndsARunningProgramWithoutTheServer) {
  Program("trap '' TERM; echo up; while :; do sleep 1000; done");
  Run();
  ASSERT_TRUE(WaitForLine("up"));
  StopServer();
  RemoveDirectory();
}

TEST_F(RemovedDirectoryTest, EndsAPreparation) {
  PreparedBy("setsid sleep 1000 & sleep 1000");
  StartServer();
  StartSupervisor();
  ASSERT_TRUE(WaitForPhase(v1::PREPARING));
  while (Descendants(supervisor_).size() < 4) sched_yield();
  RemoveDirectory();
}

TEST_F(RemovedDirectoryTest, EndsOneThatIsReady) {
  StartServer();
  StartSupervisor();
  ASSERT_TRUE(WaitForPhase(v1::READY));
  RemoveDirectory();
}

}  // namespace
}  // namespace trainyard::replica
