#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <string>
#include <string_view>

#include "base/async/file.h"
#include "engine/local/keeper_starter.h"
#include "engine/testing/local_host_world.h"
#include "programs/sandbox/cgroups/proc_figures.h"

namespace trainyard::engine {
namespace {

using namespace std::string_view_literals;

class ForkingStarterTest : public LocalHostWorld {
 protected:
  ForkingStarterTest() {
    host_->SetOnGone([this](const std::string& attempt_id) { gone_.push_back(attempt_id); });
  }
  AttemptState Inspect() { return loop_.Run(host_->Inspect(ref())).state; }
  Status Start() { return loop_.Run(host_->Start(Order(), slot())); }
  bool WaitUntilReported() {
    return loop_.RunUntil([this] { return !gone_.empty(); });
  }
  static std::string ProcOf(pid_t pid, const char* file) {
    return ReadFile("/proc/" + std::to_string(pid) + "/" + file).value_or("");
  }
  /// The process that started the living attempt's supervisor.
  [[nodiscard]] pid_t Starter() const {
    return replica::ParentFromStat(ProcOf(*replica::LockHolder(dir_), "stat"));
  }

  std::vector<std::string> gone_;
};

TEST_F(ForkingStarterTest, ASupervisorLooksAsIfItHadBeenExecuted) {
  StartServer();
  Program("exit 4");
  ASSERT_TRUE(Start());
  const pid_t supervisor = *replica::LockHolder(dir_);
  EXPECT_EQ(ProcOf(Starter(), "cmdline"), "trainyard\0starter\0"sv);
  EXPECT_EQ(ProcOf(supervisor, "cmdline"), std::string("trainyard\0replica\0"sv) + dir_.path + '\0');
  EXPECT_EQ(getsid(supervisor), supervisor);
  OpenBarrier();
  EXPECT_EQ(WaitForExit().exit_code(), 4);
  Dismiss();
  ASSERT_TRUE(WaitUntilReported());
  EXPECT_EQ(Inspect(), AttemptState::kEnded);
}

TEST_F(ForkingStarterTest, AttemptsGoOnWhenTheStarterIsKilledAndTheNextStartWorks) {
  ASSERT_TRUE(Start());
  const pid_t first = Starter();
  ASSERT_EQ(kill(first, SIGKILL), 0);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(first), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(Inspect(), AttemptState::kAlive);
  ASSERT_TRUE(LetEnd());
  ASSERT_TRUE(WaitUntilReported());
  EXPECT_EQ(Inspect(), AttemptState::kEnded);
  ASSERT_TRUE(loop_.Run(host_->Forget(ref())));
  gone_.clear();
  ASSERT_TRUE(Start());
  EXPECT_NE(Starter(), first);
}

TEST_F(ForkingStarterTest, AnAttemptGoesOnWhenItsServerEnds) {
  ASSERT_TRUE(Start());
  const pid_t starter = Starter();
  const pid_t supervisor = *replica::LockHolder(dir_);
  MakeHost({});  // the next server, with the next starter
  EXPECT_EQ(kill(starter, 0), -1);
  EXPECT_EQ(kill(supervisor, 0), 0);
  EXPECT_EQ(Inspect(), AttemptState::kAlive);
}

}  // namespace
}  // namespace trainyard::engine
