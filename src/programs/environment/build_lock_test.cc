#include "programs/environment/build_lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <vector>

#include "programs/environment/temporary_folder_for_test.h"

namespace trainyard::environment {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

/// Simulates different machines. flock(2) works on one machine only, so each locks a file that the others do
/// not find; they only share the claim.
class BuildLockTest : public testing::Test {
 protected:
  static constexpr ClaimLimits kQuick{
      .beat = milliseconds(20), .silence_max = milliseconds(10'000), .look = milliseconds(5)};

  [[nodiscard]] fs::path Claim() const { return folder_.path() / "runtime.lock.claim"; }
  [[nodiscard]] fs::path Folder() const { return folder_.path(); }
  [[nodiscard]] fs::path Lock() const { return folder_.path() / "runtime.lock"; }

  [[nodiscard]] Result<BuildLock> AcquireAs(const std::string& machine, const ClaimLimits& limits = kQuick) {
    fs::remove(Lock());
    auto lock = BuildLock::Acquire(Lock(), [this] { ++waits_; }, {}, machine, limits);
    fs::remove(Lock());
    return lock;
  }

  TemporaryFolder folder_;
  int waits_ = 0;
};

TEST_F(BuildLockTest, IsOneMachinesAtATime) {
  {
    const auto first = AcquireAs("a");
    ASSERT_TRUE(first) << first.error().message;
    const auto second = BuildLock::Try(Lock(), "b");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::kCancelled);
    EXPECT_TRUE(first->Confirm());
  }
  EXPECT_TRUE(BuildLock::Try(Lock(), "b"));
  EXPECT_FALSE(fs::exists(Claim()));
}

TEST_F(BuildLockTest, WhoGivesSignsOfLifeIsWaitedFor) {
  constexpr int kRounds = 20;
  std::vector<pid_t> builders;
  for (const char* machine : {"a", "b", "c"}) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int round = 0; round < kRounds; ++round) {
        const auto lock = AcquireAs(machine);
        const bool alone = lock && ::mkdir((Folder() / "building").c_str(), 0700) == 0;
        if (!alone || ::rmdir((Folder() / "building").c_str()) != 0 || !lock->Confirm()) ::_exit(1);
      }
      ::_exit(0);
    }
    builders.push_back(child);
  }
  for (const pid_t builder : builders) {
    int status = -1;
    ::waitpid(builder, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST_F(BuildLockTest, OfAMachineThatIsSilentItIsTakenOver) {
  const auto dead = AcquireAs("a", {.beat = std::chrono::hours(1)});
  ASSERT_TRUE(dead);
  constexpr ClaimLimits kShort{
      .beat = milliseconds(20), .silence_max = milliseconds(50), .look = milliseconds(5)};
  const auto living = AcquireAs("b", kShort);
  ASSERT_TRUE(living) << living.error().message;
  EXPECT_EQ(waits_, 1);
  EXPECT_TRUE(living->Confirm());
  EXPECT_EQ(dead->Confirm().error().code, Code::kUnavailable);
}

TEST_F(BuildLockTest, AKilledBuilderOfThisMachineIsNotWaitedFor) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = BuildLock::Acquire(Lock(), [] {}, {}, "a", kQuick);
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(fs::exists(Claim()));
  EXPECT_TRUE(BuildLock::Try(Lock(), "a"));
}

TEST_F(BuildLockTest, AClaimOfYesterdayCountsForNobody) {
  std::ofstream(Claim()) << "a 1 1\n";
  fs::last_write_time(Claim(), fs::file_time_type::clock::now() - std::chrono::hours(24));
  EXPECT_TRUE(BuildLock::Try(Lock(), "b"));
}

TEST_F(BuildLockTest, WhoWasTakenForDeadLeavesTheOthersClaimAlone) {
  std::optional<Result<BuildLock>> dead(AcquireAs("a", {.beat = std::chrono::hours(1)}));
  constexpr ClaimLimits kShort{
      .beat = milliseconds(20), .silence_max = milliseconds(50), .look = milliseconds(5)};
  const auto living = AcquireAs("b", kShort);
  ASSERT_TRUE(living) << living.error().message;
  dead.reset();
  EXPECT_TRUE(living->Confirm());
}

TEST(ThisMachine, IsKnown) { EXPECT_EQ(BootId().size(), 36U); }

}  // namespace
}  // namespace trainyard::environment
