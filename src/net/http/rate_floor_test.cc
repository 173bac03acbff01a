#include "net/http/incoming.h"

#include <gtest/gtest.h>

namespace trainyard::http {
namespace {

using std::chrono::seconds;

constexpr std::uint64_t kBytesMin = 7'200;
constexpr seconds kWindow{30};

TEST(RateFloor, ASenderMayBeSlowForAWindow) {
  RateFloor rate(kBytesMin, kWindow);
  for (int second = 1; second < 30; ++second) EXPECT_TRUE(rate.Came(1, seconds(1))) << second;
  EXPECT_FALSE(rate.Came(1, seconds(1)));
}

TEST(RateFloor, EachWindowIsJudgedByItself) {
  RateFloor rate(kBytesMin, kWindow);
  EXPECT_TRUE(rate.Came(1'000'000'000, kWindow));
  EXPECT_TRUE(rate.Came(100, seconds(29)));
  EXPECT_FALSE(rate.Came(100, seconds(1)));
}

TEST(RateFloor, TheRateThatIsAskedForIsEnough) {
  RateFloor rate(kBytesMin, kWindow);
  for (int second = 0; second < 300; ++second) EXPECT_TRUE(rate.Came(240, seconds(1))) << second;
}

TEST(RateFloor, WhoPausesLongerOwesMore) {
  RateFloor rate(kBytesMin, kWindow);
  EXPECT_TRUE(rate.Came(2 * kBytesMin, seconds(60)));
  EXPECT_FALSE(rate.Came(2 * kBytesMin - 1, seconds(60)));
}

TEST(RateFloor, TimeThatTheReaderTookIsNotCounted) {
  RateFloor rate(kBytesMin, kWindow);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(rate.Came(1, seconds(0)));
}

TEST(RateFloor, AFloorOfNothing) {
  RateFloor rate(0, kWindow);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(rate.Came(0, kWindow));
}

}  // namespace
}  // namespace trainyard::http
