#include "replica/supervisor/work_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>

#include "programs/sandbox/cgroups/proc_figures.h"
#include "replica/supervisor/testing/attempt_fixture.h"

namespace trainyard::replica {
namespace {

using testing::Contains;
using testing::StartsWith;

class WorkKeeperTest : public AttemptFixture {
 protected:
  WorkKeeperTest() {
    manifest_.set_work_folder("gs://bucket/job");
    (*manifest_.mutable_environment())["TRAINYARD_JOB_DIR"] = "gs://elsewhere/of-the-job";  // by its --env
  }
  /// The program has ended, and the server does not answer the upload.
  void RunUntilItKeeps() {
    memory_->holds_uploads = true;
    Program("printf 1 > a");
    Run();
    ASSERT_TRUE(WaitFor([](const FakeServer::Memory& memory) { return !memory.uploads.empty(); }));
  }
  void ExpectCutByStop() {
    EXPECT_EQ(WaitForExit().exit_code(), 0);
    EXPECT_THAT(Lines(),
                Contains("WARNING The working directory is not kept completely: the job was stopped."));
  }
};

TEST_F(WorkKeeperTest, KeepsFilesOfAFailedProgramAndNamesTheRest) {
  Program(
      "mkdir -p plots __pycache__; printf curve > 'plots/a b.png'; printf x > __pycache__/m.pyc\n"
      "ln -s /etc/passwd link; ln -s /etc folder; mkfifo pipe; exit 4");
  Run();
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.exit_code(), 4);
  const std::map<std::string, std::string> kept = {{"b/bucket/o job%2Fworkdir%2Fplots%2Fa%20b.png", "curve"}};
  EXPECT_EQ(memory_->uploads, kept);
  EXPECT_THAT(Lines(),
              Contains("INFO Kept 1 file of the working directory (5 bytes) in gs://bucket/job/workdir/"));
  EXPECT_THAT(Lines(), Contains("WARNING Not kept of the working directory: folder (a link), link (a link), "
                                "pipe (neither a file nor a folder)."));
}

TEST_F(WorkKeeperTest, UnchangedFilesAreNotKept) {
  Program(
      "printf one > same; printf two > changed\n"
      "touch -d @1700000000 same changed\n"
      "printf '3 1700000000000000000 same\\0003 1600000000000000000 changed' > "
      "\"$HOME/.trainyard_unpacked\"");
  Run();
  EXPECT_EQ(Finish().exit_code(), 0);
  const std::map<std::string, std::string> kept = {{"b/bucket/o job%2Fworkdir%2Fchanged", "two"}};
  EXPECT_EQ(memory_->uploads, kept);
}

TEST_F(WorkKeeperTest, AFullDiskIsNamedAndChangesNoOutcome) {
  memory_->upload_refusal = "the disk is full";
  Program("printf 1 > a; printf 22 > b");
  Run();
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.cause(), v1::ExitRecord::EXITED);
  EXPECT_EQ(exit.exit_code(), 0);
  EXPECT_THAT(Lines(),
              Contains("WARNING Not kept of the working directory: a (the disk is full), b (the disk is "
                       "full)."));
}

TEST_F(WorkKeeperTest, AWorkerKeepsNothing) {
  manifest_.mutable_replica()->set_type(v1::WORKER);
  Program("printf 1 > a");
  Run();
  EXPECT_EQ(Finish().exit_code(), 0);
  EXPECT_TRUE(memory_->uploads.empty());
}

TEST_F(WorkKeeperTest, FilesOfAStoppedProgramAreKept) {
  Program("printf 1 > a; echo ready; sleep 100");
  Run();
  ASSERT_TRUE(WaitForLine("ready"));
  Stop("cancelled");
  EXPECT_EQ(Finish().cause(), v1::ExitRecord::STOPPED);
  const std::map<std::string, std::string> kept = {{"b/bucket/o job%2Fworkdir%2Fa", "1"}};
  EXPECT_EQ(memory_->uploads, kept);
}

TEST_F(WorkKeeperTest, AServerThatIsAwayIsAwaited) {
  Program("printf 1 > a; until [ -e go ]; do sleep 0.005; done; rm go");
  Run();
  StopServer();
  ASSERT_TRUE(WriteFileAtomically(dir_.Work() + "/go", ""));
  StartServer();
  EXPECT_EQ(Finish().exit_code(), 0);
  const std::map<std::string, std::string> kept = {{"b/bucket/o job%2Fworkdir%2Fa", "1"}};
  EXPECT_EQ(memory_->uploads, kept);
}

TEST_F(WorkKeeperTest, AStopCutsItAfterTheGrace) {
  manifest_.mutable_limits()->set_stop_grace_ms(200);
  RunUntilItKeeps();
  Stop("cancelled");
  ExpectCutByStop();
}

TEST_F(WorkKeeperTest, AnOrderToKillCutsItAtOnce) {
  RunUntilItKeeps();  // the grace is 20 s
  Stop("cancelled");
  Stop("still there", true);
  ExpectCutByStop();
}

TEST_F(WorkKeeperTest, AKilledSupervisorTakesItsUploadWithIt) {
  RunUntilItKeeps();
  const std::vector<pid_t> processes = Descendants(supervisor_);
  kill(supervisor_, SIGKILL);
  waitpid(supervisor_, nullptr, 0);
  supervisor_ = -1;
  while (IsLocked(dir_).value_or(true)) sched_yield();
  for (const pid_t pid : processes) EXPECT_TRUE(WaitUntilGone(pid));
  EXPECT_FALSE(ReadExit(dir_)->has_value());
}

TEST_F(WorkKeeperTest, AShutdownDoesNotWaitForIt) {
  RunUntilItKeeps();
  kill(supervisor_, SIGTERM);
  EXPECT_EQ(WaitForExit().exit_code(), 0);
  EXPECT_THAT(Lines(),
              Contains(StartsWith("WARNING The working directory is not kept completely: the system")));
}

}  // namespace
}  // namespace trainyard::replica
