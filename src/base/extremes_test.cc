#include "base/extremes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace trainyard {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> Waves(std::size_t size) {
  std::vector<double> values;
  for (std::size_t i = 0; i < size; ++i) values.push_back(static_cast<double>(i % 10));
  return values;
}

TEST(ExtremesOf, GivesAllWhereThereIsRoom) {
  EXPECT_THAT(ExtremesOf({}, 100), IsEmpty());
  EXPECT_THAT(ExtremesOf(std::vector{5.0, kNan, 5.0}, 3), ElementsAre(0, 1, 2)) << "at least kExtremesMin";
}

TEST(ExtremesOf, KeepsFirstLastAndThePeaks) {
  std::vector<double> values = Waves(10'000);
  values[1'234] = 99;
  values[5'678] = -99;
  values[7'777] = kInfinity;
  const std::vector<std::size_t> kept = ExtremesOf(values, 200);
  EXPECT_GT(kept.size(), 150U);
  EXPECT_TRUE(std::ranges::is_sorted(kept));
  for (const std::size_t peak : {0UL, 1'234UL, 5'678UL, 7'777UL, 9'999UL}) EXPECT_THAT(kept, Contains(peak));
}

TEST(ExtremesOf, KeepsANaNAndThePeaksBesideIt) {
  std::vector<double> values = Waves(1'000);
  values[500] = kNan;
  values[501] = 99;
  const std::vector<std::size_t> kept = ExtremesOf(values, 50);
  EXPECT_THAT(kept, Contains(500));
  EXPECT_THAT(kept, Contains(501));
  EXPECT_THAT(ExtremesOf(std::vector<double>(100, kNan), 8).size(), 4U) << "one of each part, first and last";
}

TEST(ExtremesOf, NeverGivesMoreThanAskedForNorAPositionTwice) {
  for (const std::size_t size : {7U, 8U, 9U, 10U, 11U, 17U, 100U, 1'001U}) {
    for (const bool has_nan : {false, true}) {
      std::vector<double> values = Waves(size);
      if (has_nan) values[size / 2] = kNan;
      for (const std::size_t wanted : {0U, 8U, 9U, 10U, 16U, 99U}) {
        const std::vector<std::size_t> kept = ExtremesOf(values, wanted);
        EXPECT_LE(kept.size(), std::max<std::size_t>(wanted, kExtremesMin));
        EXPECT_EQ(std::ranges::adjacent_find(kept, std::ranges::greater_equal{}), kept.end());
      }
    }
  }
}

TEST(SliceOf, CutsIntoPartsThatMeetAndAreNotEmpty) {
  for (const std::size_t size : {3U, 7U, 100U}) {
    std::size_t end = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const Slice part = SliceOf(size, k, 3);
      EXPECT_EQ(part.begin, end);
      EXPECT_GT(part.end, part.begin);
      end = part.end;
    }
    EXPECT_EQ(end, size);
  }
}

}  // namespace
}  // namespace trainyard
