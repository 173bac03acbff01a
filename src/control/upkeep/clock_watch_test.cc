#include "control/upkeep/clock_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "rules/retention/clock_jumps.h"

namespace trainyard::control {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using std::chrono::nanoseconds;

class ClockWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "clock_watch_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    data_ = pattern;
    std::filesystem::create_directory(data_ + "/run");
  }
  void TearDown() override { std::filesystem::remove_all(data_); }

  ClockWatch Open() {
    return ClockWatch(data_, [this] { return now_; });
  }
  void Pass(nanoseconds time, nanoseconds jump = 0ns) {
    now_.wall += time + jump;
    now_.since_boot += time;
  }

  std::string data_;
  retention::ClockReading now_ = ClockWatch::ReadKernel();
};

TEST_F(ClockWatchTest, AJumpAtOneStartIsNoticedAndForgottenWhenItIsPutRight) {
  {
    Open();
  }
  Pass(1h, days(100));
  {
    ClockWatch watch = Open();
    EXPECT_EQ(watch.Doubt(), days(100));
    EXPECT_EQ(watch.NowForRemoval(), now_.wall - days(100));
    EXPECT_EQ(watch.JumpedSince(now_.wall - days(100) - 2h), days(100));
  }
  Pass(1h, -days(100));
  ClockWatch watch = Open();
  EXPECT_EQ(watch.Doubt(), std::nullopt);
  EXPECT_EQ(watch.NowForRemoval(), now_.wall);
}

TEST_F(ClockWatchTest, TheOperatorsWordHoldsOverStarts) {
  {
    Open();
  }
  Pass(1h, days(100));
  ClockWatch watch = Open();
  std::ofstream(retention::ClockWordFile(data_)) << "";
  watch.Look();
  EXPECT_EQ(watch.Doubt(), std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(retention::ClockWordFile(data_)));
  EXPECT_EQ(Open().NowForRemoval(), now_.wall);
  EXPECT_EQ(Open().JumpedSince(now_.wall - days(101)), days(100)) << "no job gets older by it";
}

TEST_F(ClockWatchTest, WithoutANoteTheDatabasesSayWhenAServerWasHere) {
  std::ofstream(data_ + "/trainyard.db") << "x";
  Pass(0h, days(100));
  EXPECT_EQ(Open().Doubt().has_value(), true);
}

TEST_F(ClockWatchTest, ANewDataDirectoryIsInNoDoubt) {
  now_.wall = SysTime(1h);
  EXPECT_EQ(Open().Doubt(), std::nullopt);
}

TEST_F(ClockWatchTest, ADamagedNoteIsAsNone) {
  {
    Open();
  }
  std::ofstream(data_ + "/last-seen.json") << "{\"time\": [";
  EXPECT_EQ(Open().Doubt(), std::nullopt);
}

}  // namespace
}  // namespace trainyard::control
