#include "rules/cluster/region.h"

#include <gtest/gtest.h>

namespace trainyard::cluster {
namespace {

TEST(Region, TheTableHasAllTwentyTwo) { EXPECT_EQ(Regions().size(), 22U); }

TEST(Region, UnknownNamesAreNotFound) {
  EXPECT_NE(FindRegion("us-central1"), nullptr);
  EXPECT_EQ(FindRegion("nowhere-1"), nullptr);
  EXPECT_EQ(FindRegion(""), nullptr);
  EXPECT_EQ(FindRegion("us-central"), nullptr);
}

TEST(Region, ThoseOfBothApisAreRegions) {
  for (const char* name : {"us-central1", "africa-south1"}) EXPECT_TRUE(IsRegion(name)) << name;
  for (const char* name : {"", "global", "-", "us-central2", "us-central1-a"})
    EXPECT_FALSE(IsRegion(name)) << name;
}

TEST(Region, AZoneIsARegionAndALetter) {
  EXPECT_EQ(RegionOf(ZoneOf("us-west1")), "us-west1");
  for (const char* other : {"", "-b", "us-west1", "us-west1-", "us-west1-1", "us-west1-bb"})
    EXPECT_EQ(RegionOf(other), "") << other;
}

struct Row {
  const char* region;
  AcceleratorConfig::Type type;
  bool has;
};
class Has : public testing::TestWithParam<Row> {};

TEST_P(Has, FollowsTheTable) {
  const Row& row = GetParam();
  ASSERT_NE(FindRegion(row.region), nullptr);
  EXPECT_EQ(FindRegion(row.region)->Has(row.type), row.has) << row.region << ' ' << row.type;
}

INSTANTIATE_TEST_SUITE_P(Rules, Has,
                         testing::Values(Row{"us-central1", AcceleratorConfig::TPU_V3, true},
                                         Row{"europe-west4", AcceleratorConfig::TPU_V2, true},
                                         Row{"us-east1", AcceleratorConfig::TPU_V2, false},
                                         Row{"us-east1", AcceleratorConfig::NVIDIA_TESLA_V100, true},
                                         Row{"us-west2", AcceleratorConfig::NVIDIA_TESLA_P4, true},
                                         Row{"us-west2", AcceleratorConfig::NVIDIA_TESLA_K80, false},
                                         Row{"us-west3", AcceleratorConfig::NVIDIA_TESLA_T4, false},
                                         Row{"australia-southeast1", AcceleratorConfig::NVIDIA_TESLA_P100,
                                             true}));

TEST(Region, SomeGpusAreInNoZoneTogether) {
  constexpr auto kBit = [](AcceleratorConfig::Type type) { return 1U << static_cast<unsigned>(type); };
  constexpr std::uint32_t kPair =
      kBit(AcceleratorConfig::NVIDIA_TESLA_T4) | kBit(AcceleratorConfig::NVIDIA_TESLA_K80);
  constexpr std::uint32_t kThree = kPair | kBit(AcceleratorConfig::NVIDIA_TESLA_P100);
  EXPECT_TRUE(FindRegion("us-central1")->OneZoneMayHave(0));
  EXPECT_TRUE(FindRegion("us-central1")->OneZoneMayHave(kPair));
  EXPECT_FALSE(FindRegion("us-central1")->OneZoneMayHave(kThree));
  EXPECT_FALSE(
      FindRegion("us-central1")->OneZoneMayHave(kThree | kBit(AcceleratorConfig::NVIDIA_TESLA_V100)));
  EXPECT_TRUE(FindRegion("us-central1")
                  ->OneZoneMayHave((kThree & ~kBit(AcceleratorConfig::NVIDIA_TESLA_K80)) |
                                   kBit(AcceleratorConfig::NVIDIA_TESLA_V100)));
  EXPECT_TRUE(FindRegion("us-east1")->OneZoneMayHave(kThree)) << "not known";
}

}  // namespace
}  // namespace trainyard::cluster
