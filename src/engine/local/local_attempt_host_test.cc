#include "engine/local/local_attempt_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>

#include "base/async/file.h"
#include "engine/local/attempt_files.h"
#include "engine/testing/local_host_world.h"
#include "programs/attempt/init_note.h"
#include "programs/attempt/spool.h"
#include "programs/runtimes/daemon_container.h"
#include "programs/sandbox/cgroups/kill_group.h"
#include "programs/sandbox/cgroups/proc_figures.h"

namespace trainyard::engine {
namespace {

namespace fs = std::filesystem;

INSTANTIATE_TYPED_TEST_SUITE_P(Local, AttemptHostConformance, LocalHostWorld);

class LocalAttemptHostTest : public LocalHostWorld {
 protected:
  LocalAttemptHostTest() { Listen(); }
  void Listen() {
    host_->SetOnGone([this](const std::string& attempt_id) { gone_.push_back(attempt_id); });
  }
  AttemptState Inspect() { return loop_.Run(host_->Inspect(ref())).state; }
  Status Start() { return loop_.Run(host_->Start(Order(), slot())); }
  bool WaitUntilReported() {
    return loop_.RunUntil([this] { return !gone_.empty(); });
  }

  std::vector<std::string> gone_;
};

TEST_F(LocalAttemptHostTest, AProgramThatIsKilledBesideAShutdownHasARecord) {
  StartServer();
  Program("trap '' TERM; echo up; while :; do sleep 0.01; done");
  ASSERT_TRUE(Start().has_value());
  OpenBarrier();
  ASSERT_TRUE(WaitForLine("up"));
  ASSERT_EQ(kill(*replica::LockHolder(dir_), SIGTERM), 0);
  KillProgram(dir_);
  EXPECT_EQ(WaitForExit().cause(), replica::v1::ExitRecord::SHUT_DOWN);
  Dismiss();
  ASSERT_TRUE(WaitUntilReported());
}

TEST_F(LocalAttemptHostTest, LifeOfAnAttempt) {
  EXPECT_EQ(Inspect(), AttemptState::kAbsent);
  StartServer();
  Program("echo hello; exit 4");
  ASSERT_TRUE(Start().has_value());
  EXPECT_EQ(Inspect(), AttemptState::kAlive);
  EXPECT_EQ(loop_.Run(host_->Forget(ref())).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(loop_.Run(host_->Collect(ref(), 0)).error().code, Code::kFailedPrecondition);
  OpenBarrier();
  EXPECT_EQ(WaitForExit().exit_code(), 4);
  Dismiss();
  ASSERT_TRUE(WaitUntilReported());
  EXPECT_EQ(gone_, std::vector<std::string>{manifest_.attempt_id()});
  EXPECT_EQ(Inspect(), AttemptState::kEnded);
  EXPECT_EQ(Start().error().code, Code::kAlreadyExists);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), 0) << "the only child starts supervisors, and lives";
  EXPECT_TRUE(loop_.Run(host_->Forget(ref())).has_value());
  EXPECT_EQ(Inspect(), AttemptState::kAbsent);
}

TEST_F(LocalAttemptHostTest, ManifestIsForItsOwnerOnly) {
  ASSERT_TRUE(Start().has_value());
  EXPECT_EQ(fs::status(dir_.Manifest()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(LocalAttemptHostTest, AContainerWaitsWhereNothingRunsThem) {
  manifest_.mutable_program()->mutable_container()->set_image("r/i");
  const Status started = Start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, Code::kUnavailable) << "what runs them may be started later";
  EXPECT_FALSE(fs::exists(dir_.path));
}

TEST_F(LocalAttemptHostTest, IsAliveBeforeTheSupervisorHasDoneAnything) {
  MakeHost({.supervisor_program = "/bin/sh", .supervisor_arguments = {"-c", "exec sleep 1000"}});
  ASSERT_TRUE(Start().has_value());
  EXPECT_EQ(Inspect(), AttemptState::kAlive);
}

TEST_F(LocalAttemptHostTest, AProgramThatCannotBeStartedIsAnErrorAndTheAttemptIsLost) {
  MakeHost({.supervisor_program = "/nonexistent"});
  EXPECT_FALSE(Start().has_value());
  AttemptState state = AttemptState::kAlive;
  while (state == AttemptState::kAlive) state = Inspect();  // the process that could not become it ends
  EXPECT_EQ(state, AttemptState::kLost);
}

TEST_F(LocalAttemptHostTest, KillTakesEverythingAndLeavesTheLinesOnDisk) {
  Program("(setsid sleep 1000 &); i=0; while [ $i -lt 50 ]; do echo $i; i=$((i+1)); done; sleep 1000");
  StartServer();
  memory_->acknowledges = false;
  ASSERT_TRUE(Start().has_value());
  OpenBarrier();
  while (replica::ReadSpool(dir_.Spool(), 52)->empty())
    sched_yield();  // 3 lines of the supervisor's, then 50
  const std::vector<pid_t> processes = replica::Descendants(*replica::LockHolder(dir_));
  EXPECT_GE(processes.size(), 3U);
  EXPECT_TRUE(loop_.Run(host_->Kill(ref())).has_value());
  for (const pid_t pid : processes) EXPECT_TRUE(replica::WaitUntilGone(pid));
  ASSERT_TRUE(WaitUntilReported());
  EXPECT_EQ(Inspect(), AttemptState::kLost);
  const auto remains = loop_.Run(host_->Collect(ref(), 10));
  ASSERT_TRUE(remains.has_value());
  EXPECT_EQ(remains->exit.cause(), ExitRecord::LOST);
  EXPECT_FALSE(remains->exit.message().empty());
  ASSERT_FALSE(remains->chunks.empty());
  EXPECT_GT(remains->chunks.front().first_line() + remains->chunks.front().line_count(), 10);
  EXPECT_EQ(remains->chunks.back().first_line() + remains->chunks.back().line_count(), 53);
}

TEST_F(LocalAttemptHostTest, SupervisorsOutliveTheHostAndAreAdopted) {
  Program("until [ -e go ]; do sleep 0.005; done");
  StartServer();
  ASSERT_TRUE(Start().has_value());
  OpenBarrier();
  MakeHost({});
  Listen();
  EXPECT_EQ(Inspect(), AttemptState::kAlive);
  EXPECT_EQ(Inspect(), AttemptState::kAlive);
  EXPECT_TRUE(gone_.empty());
  std::ofstream(dir_.Work() + "/go") << "go";
  EXPECT_EQ(WaitForExit().cause(), ExitRecord::EXITED);
  Dismiss();
  ASSERT_TRUE(WaitUntilReported());
  EXPECT_EQ(gone_.size(), 1U);
  EXPECT_EQ(Inspect(), AttemptState::kEnded);
}

TEST_F(LocalAttemptHostTest, RemoveTakesWriteProtectedFoldersToo) {
  Program("mkdir -p a/b && touch a/b/c && chmod 500 a/b a");
  StartServer();
  ASSERT_TRUE(Start().has_value());
  OpenBarrier();
  WaitForExit();
  Dismiss();
  ASSERT_TRUE(WaitUntilReported());
  EXPECT_TRUE(loop_.Run(host_->Forget(ref())).has_value());
  EXPECT_FALSE(fs::exists(dir_.path));
}

/// The parameter is the best isolation that may be used: 0 all namespaces, 3 none.
class KilledTogether : public LocalAttemptHostTest, public testing::WithParamInterface<int> {
 protected:
  KilledTogether() {
    MakeHost({.supervisor_arguments = {"replica", "--isolation=" + std::to_string(GetParam())}});
    Listen();
  }
  [[nodiscard]] static bool has_pid_namespace() { return GetParam() < 2; }
};

TEST_P(KilledTogether, NothingOfItLivesWhenItIsSaidToBeOver) {
  Program("i=0; while [ $i -lt 100 ]; do setsid sleep 1000 & i=$((i+1)); done; echo up; sleep 1000");
  StartServer();
  ASSERT_TRUE(Start().has_value());
  OpenBarrier();
  ASSERT_TRUE(WaitForLine("up"));
  const pid_t supervisor = *replica::LockHolder(dir_);
  const auto note = replica::ReadInitNote(dir_);
  ASSERT_TRUE(note.has_value());
  if (!has_pid_namespace() && note->groups.empty()) {
    GTEST_SKIP() << "this machine gives us no cgroup that can be killed as a whole";
  }
  const std::vector<pid_t> processes = replica::Descendants(supervisor);
  ASSERT_GE(processes.size(), 102U);
  // Neither of them notices the other's end.
  kill(supervisor, SIGSTOP);
  kill(note->init.pid, SIGKILL);
  kill(supervisor, SIGKILL);
  AttemptState state = AttemptState::kAlive;
  while (state == AttemptState::kAlive) state = Inspect();
  EXPECT_EQ(state, AttemptState::kLost);
  for (const pid_t pid : processes) {
    if (pid == supervisor) continue;
    // Without a PID namespace a killed process may not have ended yet.
    EXPECT_TRUE(has_pid_namespace() ? !replica::IsRunning(pid) : replica::WaitUntilGone(pid)) << pid;
  }
  ASSERT_TRUE(WaitUntilReported());
  EXPECT_TRUE(loop_.Run(host_->Forget(ref())).has_value());
  for (const std::string& group : note->groups) EXPECT_FALSE(fs::exists(group)) << group;
}

INSTANTIATE_TEST_SUITE_P(Isolations, KilledTogether, testing::Values(0, 1, 2, 3), [](const auto& row) {
  return std::string(std::array{"namespaces", "user_namespaces", "no_pid_namespace",
                                "none"}[static_cast<std::size_t>(row.param)]);
});

/// A process that belongs to no attempt, until the end of the test.
class Bystander {
 public:
  Bystander() : pid_(fork()) {
    if (pid_ == 0) {
      for (;;) pause();
    }
  }
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;
  ~Bystander() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST_F(LocalAttemptHostTest, KillsNobodyWhoHasThePidOfADeadAttemptsProcess) {
  const Bystander other;
  fs::create_directories(dir_.path);
  ASSERT_TRUE(replica::NoteInit(dir_, other.pid(), {}).has_value());
  replica::InitNote note = *replica::ReadInitNote(dir_);
  --note.init.start_time;
  std::ofstream(dir_.Init()) << replica::PrintInitNote(note);
  EXPECT_EQ(Inspect(), AttemptState::kLost);
  EXPECT_TRUE(replica::IsRunning(other.pid()));
}

TEST_F(LocalAttemptHostTest, KillsNobodyInACgroupOfAnotherName) {
  const Bystander other;
  auto group = replica::FreezerGroup::Create("another-test-" + std::to_string(getpid()));
  if (!group) GTEST_SKIP() << group.error().message;
  std::ofstream(group->path() + "/cgroup.procs") << other.pid();
  ASSERT_TRUE(replica::HasProcesses(group->path()));
  fs::create_directories(dir_.path);
  std::ofstream(dir_.Cgroup()) << group->path();
  EXPECT_EQ(Inspect(), AttemptState::kLost);
  EXPECT_TRUE(replica::IsRunning(other.pid()));
  std::ofstream(fs::path(group->path()).parent_path() / "cgroup.procs") << other.pid();
}

TEST_F(LocalAttemptHostTest, KillsWhatIsLeftInItsCgroup) {
  const Bystander left;
  auto group = replica::FreezerGroup::Create("test-" + ref().id + "-" + std::to_string(getpid()));
  if (!group) GTEST_SKIP() << group.error().message;
  std::ofstream(group->path() + "/cgroup.procs") << left.pid();
  ASSERT_TRUE(replica::HasProcesses(group->path()));
  fs::create_directories(dir_.path);
  std::ofstream(dir_.Cgroup()) << group->path();
  EXPECT_EQ(Inspect(), AttemptState::kLost);
  EXPECT_TRUE(replica::WaitUntilGone(left.pid()));
}

/// A container engine that accepts every connection and never answers, until Disconnect.
class HungEngine {
 public:
  explicit HungEngine(std::string path)
      : path_(std::move(path)), listener_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(listener_.get(), 64), 0);
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool IsCalled() const {
    pollfd waiting{.fd = listener_.get(), .events = POLLIN, .revents = 0};
    return poll(&waiting, 1, 0) > 0;
  }
  void Disconnect() { listener_.Reset(); }

 private:
  std::string path_;
  UniqueFd listener_;
};

TEST_F(LocalAttemptHostTest, AContainerEngineThatHangsHoldsUpNobodyElse) {
  HungEngine hung(folder_.path() + "/engine.sock");
  std::vector<replica::AttemptDir> dead;
  int ended = 0;
  for (int number = 0; number < 4; ++number) {  // more than any pool has threads
    const AttemptRef attempt{.id = std::to_string(100 + number) + "-master-replica-0-1"};
    dead.push_back({settings_.attempts_dir + "/" + attempt.id});
    fs::create_directories(dead.back().path);
    ASSERT_TRUE(replica::NoteContainer(dead.back(), hung.path(), "container").has_value());
    auto inspected = [&ended](std::exception_ptr, Inspection found) {
      EXPECT_EQ(found.state, AttemptState::kUnknown) << "its container may still run";
      ++ended;
    };
    boost::asio::co_spawn(loop_.context, host_->Inspect(attempt), std::move(inspected));
  }
  ASSERT_TRUE(loop_.RunUntil([&hung] { return hung.IsCalled(); }));
  Program("exit 4");
  StartServer();
  ASSERT_TRUE(Start().has_value());
  OpenBarrier();
  EXPECT_EQ(WaitForExit().exit_code(), 4);
  Dismiss();
  ASSERT_TRUE(WaitUntilReported());
  EXPECT_EQ(Inspect(), AttemptState::kEnded);
  EXPECT_TRUE(loop_.Run(host_->Forget(ref())).has_value());
  EXPECT_LT(ended, 3) << "it had to wait for the others";
  hung.Disconnect();
  ASSERT_TRUE(loop_.RunUntil([&ended] { return ended == 4; }));
  for (const replica::AttemptDir& dir : dead) EXPECT_TRUE(replica::HasNotedContainers(dir));
}

}  // namespace
}  // namespace trainyard::engine
