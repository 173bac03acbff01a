#include "engine/remote/cluster_engine.h"

#include <gtest/gtest.h>

namespace trainyard::engine {
namespace {

TEST(WaitingLine, CountsThoseBefore) {
  WaitingLine line;
  const ReservationKey first{.job_uid = 3, .try_number = 1};
  const ReservationKey second{.job_uid = 7, .try_number = 2};
  const ReservationKey third{.job_uid = 9, .try_number = 1};
  for (const ReservationKey& key : {third, first, second, first}) line.Add(key);
  EXPECT_EQ(line.PositionOf(first), 1);
  EXPECT_EQ(line.PositionOf(second), 2);
  EXPECT_EQ(line.PositionOf(third), 3);
  line.Remove(second);
  line.Remove(second);
  EXPECT_EQ(line.PositionOf(third), 2);
  line.Add(second);
  EXPECT_EQ(line.PositionOf(third), 3);
}

}  // namespace
}  // namespace trainyard::engine
