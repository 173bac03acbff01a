#include "rules/cluster/project_number.h"

#include <gtest/gtest.h>

namespace trainyard::cluster {
namespace {

TEST(ProjectNumberTest, OfOlderDataDirectoriesIsAsItWas) {
  // Users have it in IAM bindings, so it must not change with the program.
  EXPECT_EQ(HashedNumber("my-project"), 642'627'587'659) << "the accounts of every project have changed";
  EXPECT_EQ(HashedNumber("473645424018"), 473'645'424'018);
  EXPECT_NE(HashedNumber("0123"), 123);
  EXPECT_EQ(std::to_string(HashedNumber("9999999999999999999")).size(), 12U) << "too long for a number";
}

TEST(ProjectNumberTest, HasTwelveDigits) {
  for (const std::uint64_t bits : {std::uint64_t{0}, std::uint64_t{900'000'000'000}, ~std::uint64_t{0}})
    EXPECT_EQ(std::to_string(NumberFrom(bits)).size(), 12U);
}

TEST(ProjectNumberTest, AccountsAreOfTheDocumentedForms) {
  EXPECT_EQ(ServiceAccount(380'211'896'040),
            "service-380211896040@cloud-ml.google.com.iam.gserviceaccount.com");
  EXPECT_EQ(TpuServiceAccount(473'645'424'018), "service-473645424018@cloud-tpu.iam.gserviceaccount.com");
  EXPECT_EQ(NumberOfServiceAccount(ServiceAccount(380'211'896'040)), 380'211'896'040);
  for (const char* other : {"service-12@cloud-tpu.iam.gserviceaccount.com", "service-12", "",
                            "service-012@cloud-ml.google.com.iam.gserviceaccount.com",
                            "service-x@cloud-ml.google.com.iam.gserviceaccount.com"})
    EXPECT_EQ(NumberOfServiceAccount(other), std::nullopt) << other;
}

}  // namespace
}  // namespace trainyard::cluster
