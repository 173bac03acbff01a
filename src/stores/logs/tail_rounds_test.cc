#include "stores/logs/tail_rounds.h"

#include <gtest/gtest.h>

namespace trainyard::logs {
namespace {

using std::chrono::milliseconds;

TEST(TailRounds, TheFirstBeginsAtOnce) {
  const TailRounds::Time now{milliseconds(500)};
  TailRounds rounds;
  EXPECT_FALSE(rounds.due());
  rounds.Want();
  EXPECT_TRUE(rounds.due());
  EXPECT_LE(rounds.pause_end(), now);
}

TEST(TailRounds, APauseFollowsTheRound) {
  const TailRounds::Time now{milliseconds(500)};
  TailRounds rounds;
  rounds.Want();
  rounds.Begin(2, 100);
  EXPECT_FALSE(rounds.due());
  rounds.Want();  // lines that come during the round
  rounds.Leave(now + milliseconds(10));
  EXPECT_FALSE(rounds.due());
  rounds.Leave(now + milliseconds(30));
  EXPECT_TRUE(rounds.due());
  EXPECT_EQ(rounds.pause_end(), now + milliseconds(30) + 100 * kPauseShare);
}

}  // namespace
}  // namespace trainyard::logs
