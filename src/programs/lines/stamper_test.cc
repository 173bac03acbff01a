#include "programs/lines/stamper.h"

#include <gtest/gtest.h>

#include <vector>

namespace trainyard::replica {
namespace {

TEST(Stamper, StrictlyIncreasesAndIsOdd) {
  Stamper stamper;
  std::vector<std::uint64_t> stamps;
  for (const std::uint64_t now : {10U, 10U, 11U, 5U, 100U, 101U}) stamps.push_back(stamper.Next(now));
  EXPECT_EQ(stamps, (std::vector<std::uint64_t>{11, 13, 15, 17, 101, 103}));
}

}  // namespace
}  // namespace trainyard::replica
