#include "replica/supervisor/supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>

#include "replica/supervisor/testing/attempt_fixture.h"

namespace trainyard::replica {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class SupervisorTest : public AttemptFixture {};

TEST_F(SupervisorTest, RunsTheModuleAndReportsEverythingInOrder) {
  manifest_.mutable_program()->add_args("--a");
  manifest_.mutable_program()->add_args("b c");
  Program("echo \"$@\"; echo wrong >&2; printf last");
  Run();
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.cause(), v1::ExitRecord::EXITED);
  EXPECT_EQ(exit.exit_code(), 0);
  EXPECT_GT(exit.start_time().seconds(), 0);
  EXPECT_GE(exit.end_time().seconds(), exit.start_time().seconds());
  const std::vector<std::string> lines = Lines();
  ASSERT_EQ(lines.size(), 9U);
  EXPECT_EQ(exit.log_lines(), 9);
  EXPECT_THAT(lines[0], HasSubstr("INFO Running task with arguments: --cluster={"));
  EXPECT_EQ(lines[1], "INFO Running module trainer.task.");
  EXPECT_EQ(lines[2], "INFO Running command: python3 -m trainer.task --a b c");
  EXPECT_THAT(UserLines(),
              testing::UnorderedElementsAre("INFO -m trainer.task --a b c", "ERROR wrong", "INFO last"));
  EXPECT_EQ(lines[6], "INFO Module completed; cleaning up.");
  EXPECT_EQ(lines[7], "INFO Clean up finished.");
  EXPECT_EQ(lines[8], "INFO Task completed successfully.");
  std::uint64_t last = 0;
  for (const v1::LogLine& line : memory_->lines) {
    EXPECT_GT(line.stamp(), last);
    EXPECT_EQ(line.stamp() % 2, 1U);
    last = line.stamp();
  }
}

TEST_F(SupervisorTest, AnEndIsExplained) {
  Program("echo starting; echo 'task.py: error: unrecognized arguments: --x' >&2; exit 2");
  Run();
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.diagnosis().name(), "bad_arguments");
  EXPECT_EQ(exit.diagnosis().summary(), "The program refused its arguments: unrecognized arguments: --x.");
}

TEST_F(SupervisorTest, WhatItUsesIsMeasured) {
  PythonProgram("x = bytearray(b'x' * (50 << 20))\nwhile True: pass\n");
  Run();
  v1::Usage usage;
  ASSERT_TRUE(server_->WaitFor([&usage](const FakeServer::Memory& memory) {
    const auto sample = std::ranges::find_if(memory.frames, [](const v1::FromReplica& frame) {
      return frame.usage().cpu_seconds() > 0.1 && frame.usage().memory_bytes() >= 50 << 20;
    });
    if (sample == memory.frames.end()) return false;
    usage = sample->usage();
    return true;
  }));
  EXPECT_GT(usage.time().seconds(), 0);
  EXPECT_GE(usage.cpus(), 1);
  EXPECT_GT(usage.memory_total_bytes(), usage.memory_bytes());
  Stop("enough", true);
  const v1::ExitRecord exit = Finish();
  EXPECT_GE(exit.memory_peak_bytes(), 50 << 20);
  EXPECT_FALSE(exit.has_diagnosis()) << "it was told to stop";
}

TEST_F(SupervisorTest, ReadyCarriesTheEndpointAndHelloTheToken) {
  Run();
  Finish();
  ASSERT_GE(memory_->frames.size(), 3U);
  const auto& hello = memory_->frames[0].hello();
  EXPECT_EQ(hello.attempt_id(), manifest_.attempt_id());
  EXPECT_EQ(hello.token(), "secret");
  const auto ready = std::ranges::find_if(
      memory_->frames, [](const auto& frame) { return frame.phase_changed().phase() == v1::READY; });
  ASSERT_NE(ready, memory_->frames.end());
  EXPECT_EQ(ready->phase_changed().endpoint().SerializeAsString(), cluster_.endpoints(0).SerializeAsString());
}

struct EndRow {
  const char* name;
  const char* script;
  v1::ExitRecord::Cause cause;
  int exit_code;
  int signal;
  const char* logged;
};
class Ends : public AttemptFixture, public testing::WithParamInterface<EndRow> {};
TEST_P(Ends, AreRecorded) {
  Program(GetParam().script);
  Run();
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.cause(), GetParam().cause);
  EXPECT_EQ(exit.exit_code(), GetParam().exit_code);
  EXPECT_EQ(exit.signal(), GetParam().signal);
  EXPECT_THAT(
      Lines(),
      Contains(
          std::string("ERROR Command '['python3', '-m', 'trainer.task']' returned non-zero exit status ") +
          GetParam().logged));
  EXPECT_THAT(Lines(), testing::Not(Contains("INFO Task completed successfully.")));
  EXPECT_EQ(Lines().back(), "INFO Clean up finished.");
}
INSTANTIATE_TEST_SUITE_P(
    Rules, Ends,
    testing::Values(EndRow{"code", "exit 3", v1::ExitRecord::EXITED, 3, 0, "3"},
                    EndRow{"code_255", "exit 255", v1::ExitRecord::EXITED, 255, 0, "255"},
                    EndRow{"abort", "kill -ABRT $$", v1::ExitRecord::SIGNALED, 0, SIGABRT, "-6"},
                    EndRow{"kill", "kill -KILL $$", v1::ExitRecord::SIGNALED, 0, SIGKILL, "-9"},
                    EndRow{"own_term", "kill -TERM $$", v1::ExitRecord::SIGNALED, 0, SIGTERM, "-15"}),
    [](const auto& row) { return row.param.name; });

TEST_F(SupervisorTest, KeepsTheTracebackOfAFailure) {
  PythonProgram("def f():\n  raise ValueError('no such column')\nf()\n");
  Run();
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.exit_code(), 1);
  EXPECT_THAT(exit.traceback(), testing::StartsWith("Traceback (most recent call last):\n  File "));
  EXPECT_THAT(exit.traceback(), testing::EndsWith("ValueError: no such column"));
}

TEST_F(SupervisorTest, StructuredLinesComeThroughTheirOwnPipe) {
  PythonProgram(
      "import os, json\nos.write(int(os.environ['TRAINYARD_LOG_FD']), json.dumps({'severity': 'WARNING', "
      "'message': 'slow',"
      " 'lineno': 7}).encode() + b'\\n')\n");
  Run();
  Finish();
  EXPECT_THAT(UserLines(), ElementsAre("WARNING slow"));
}

TEST_F(SupervisorTest, TheVariablesAreTheReplicasOnly) {
  (*manifest_.mutable_environment())["CUSTOM"] = "value";
  Program("env");
  Run();
  Finish();
  const std::vector<std::string> lines = UserLines();
  for (const char* expected :
       {"INFO CUSTOM=value", "INFO FROM_ENVIRONMENT=yes", "INFO HOSTNAME=cmle-training-master-0123456789-0",
        "INFO TMPDIR=/tmp", "INFO CLOUD_ML_JOB_ID=census", "INFO PYTHONUNBUFFERED=1"}) {
    EXPECT_THAT(lines, Contains(expected));
  }
  EXPECT_THAT(lines, Contains(HasSubstr("TF_CONFIG={")));
  EXPECT_THAT(lines, testing::Not(Contains(HasSubstr("LEAKED_FROM_SERVER"))));
}

TEST_F(SupervisorTest, ASecretReachesTheProgramAndIsShownNowhere) {
  (*manifest_.mutable_environment())["TOKEN"] = "hunter2/0815";
  manifest_.add_secrets("TOKEN");
  PythonProgram(
      "import os, sys\ntoken = os.environ['TOKEN']\nprint(len(token), token)\n"
      "sys.stdout.write('in ' + token[:4])\nsys.stdout.flush()\nsys.stdout.write(token[4:] + ' pieces\\n')\n"
      "print(repr(sys.stdin.read()))\nraise ValueError('with ' + token)\n");
  Run();
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.exit_code(), 1);
  EXPECT_THAT(exit.traceback(), testing::EndsWith("ValueError: with ***"));
  EXPECT_EQ(exit.DebugString().find("hunter2"), std::string::npos);
  EXPECT_THAT(UserLines(),
              testing::AllOf(Contains("INFO 12 ***"), Contains("INFO in *** pieces"), Contains("INFO ''")));
  EXPECT_THAT(Lines(), testing::Not(Contains(HasSubstr("hunter2"))));
}

TEST_F(SupervisorTest, CannotRunIsAFailureOfThePreparation) {
  Program("");
  std::filesystem::permissions(folder_.path() + "/environments/rt/bin/python",
                               std::filesystem::perms::owner_read);
  StartServer();
  StartSupervisor();
  ASSERT_TRUE(WaitForPhase(v1::READY));
  v1::ToReplica frame;
  *frame.mutable_cluster() = cluster_;
  server_->Send(frame);
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.cause(), v1::ExitRecord::PREPARATION_FAILED);
  EXPECT_THAT(exit.message(), testing::EndsWith("bin/python: exec: Permission denied"));
}

TEST_F(SupervisorTest, SecondStartIsRefusedAlsoAfterTheEnd) {
  Program("sleep 1000");
  Run();
  const pid_t first = supervisor_;
  const UniqueFd first_fd = std::move(supervisor_fd_);
  const auto start_again = [this] {
    StartSupervisor();
    EXPECT_TRUE(WaitForEnd(supervisor_fd_));
    int status = 0;
    waitpid(supervisor_, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 1);
  };
  start_again();
  EXPECT_TRUE(IsRunning(first));
  kill(first, SIGKILL);
  waitpid(first, nullptr, 0);
  while (IsLocked(dir_).value_or(true)) sched_yield();
  start_again();
  supervisor_ = -1;
}

TEST_F(SupervisorTest, KeepsTheLockThatTheEngineTook) {
  engine_lock_ = *LockAttempt(dir_);  // still open here, as in an engine that closes it late
  Run();
  EXPECT_EQ(WaitForExit().exit_code(), 0);
  engine_lock_.Reset();
  EXPECT_EQ(IsLocked(dir_), true);
  Finish();
}

TEST_F(SupervisorTest, ManyLinesAreNeitherLostNorDoubled) {
  PythonProgram("import sys\nsys.stdout.write(''.join('line %d\\n' % i for i in range(200000)))\n");
  Run();
  Finish();
  const std::vector<std::string> lines = UserLines();
  ASSERT_EQ(lines.size(), 200'000U);
  for (std::size_t i = 0; i < lines.size(); i += 1) ASSERT_EQ(lines[i], "INFO line " + std::to_string(i));
}

// A stream that keeps writing is read at intervals (OutputPace).
TEST_F(SupervisorTest, LinesThatAreWrittenOneByOneAreAllThere) {
  PythonProgram(
      "import sys\nfor i in range(30000):\n"
      "  print('line', i)\n  if i % 1000 == 0: print('WARNING error', i, file=sys.stderr)\n");
  Run();
  Finish();
  std::vector<std::string> output;
  std::vector<std::string> errors;
  for (std::string& line : UserLines())
    (line.starts_with("INFO ") ? output : errors).push_back(std::move(line));
  ASSERT_EQ(output.size(), 30'000U);
  for (std::size_t i = 0; i < output.size(); i += 1) ASSERT_EQ(output[i], "INFO line " + std::to_string(i));
  ASSERT_EQ(errors.size(), 30U);
  for (std::size_t i = 0; i < errors.size(); i += 1)
    ASSERT_THAT(errors[i], HasSubstr("error " + std::to_string(i * 1000)));
}

}  // namespace
}  // namespace trainyard::replica
