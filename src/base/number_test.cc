#include "base/number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace trainyard {
namespace {

TEST(Numbers, AreWholeOrLead) {
  EXPECT_EQ(WholeNumber<int>("-12"), -12);
  EXPECT_EQ(WholeNumber<int>("12 "), std::nullopt);
  EXPECT_EQ(WholeNumber<int>(""), std::nullopt);
  EXPECT_EQ(WholeNumber<std::uint16_t>("65536"), std::nullopt) << "it does not fit";
  EXPECT_EQ(WholeNumber<int>("ff", 16), 255);
  EXPECT_EQ(WholeNumber<double>("1e3"), 1000.0);
  EXPECT_EQ(LeadingNumber<int>("12 rest"), 12);
  EXPECT_EQ(LeadingNumber<int>(" 12"), std::nullopt);
}

}  // namespace
}  // namespace trainyard
