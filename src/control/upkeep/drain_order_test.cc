#include "control/upkeep/drain_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace trainyard::control {
namespace {

using testing::HasSubstr;

class DrainOrderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "drain_order_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    drain_.set_on(true);
    drain_.set_by("ann");
    drain_.mutable_since()->set_seconds(1'800'000'000);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
  control::v1::Drain drain_;
};

TEST_F(DrainOrderTest, IsKept) {
  EXPECT_FALSE(ReadDrain(folder_)->on());
  ASSERT_TRUE(KeepDrain(folder_, drain_));
  EXPECT_EQ(ReadDrain(folder_)->SerializeAsString(), drain_.SerializeAsString());
  ASSERT_TRUE(KeepDrain(folder_, {}));
  EXPECT_FALSE(ReadDrain(folder_)->on());
}

TEST_F(DrainOrderTest, AFileThatCannotBeReadIsNoPermission) {
  std::ofstream(folder_ + "/drain.json") << "{";
  const auto read = ReadDrain(folder_);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kDataLoss);
  EXPECT_THAT(read.error().message, HasSubstr("drain.json"));
}

TEST_F(DrainOrderTest, JobsAreToldWhoAndHow) {
  EXPECT_THAT(DescribeDrain(drain_).reason, HasSubstr("draining: ann turned it on at 2027-01-15T08:00:00Z"));
  EXPECT_THAT(DescribeDrain(drain_).reason, HasSubstr("trainyard admin drain --off"));
  drain_.clear_by();
  EXPECT_THAT(DescribeDrain(drain_).reason, HasSubstr("an administrator turned it on"));
}

}  // namespace
}  // namespace trainyard::control
