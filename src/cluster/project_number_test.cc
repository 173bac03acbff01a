#include "cluster/project_number.h"

#include <gtest/gtest.h>

#include <set>

namespace trainyard::cluster {
namespace {

TEST(ProjectNumberTest, IsTheSameForEverAndHasTwelveDigits) {
  std::set<std::int64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t number = ProjectNumber("project-" + std::to_string(i));
    EXPECT_EQ(std::to_string(number).size(), 12U);
    EXPECT_EQ(number, ProjectNumber("project-" + std::to_string(i)));
    seen.insert(number);
  }
  EXPECT_EQ(seen.size(), 1000U);
  // Written down by users in IAM bindings: must not change with the program.
  EXPECT_EQ(ProjectNumber("my-project"), 642'627'587'659) << "the accounts of every project have changed";
}

TEST(ProjectNumberTest, OfANumberIsThatNumber) {
  EXPECT_EQ(ProjectNumber("473645424018"), 473'645'424'018);
  EXPECT_NE(ProjectNumber("0123"), 123);
  EXPECT_EQ(std::to_string(ProjectNumber("9999999999999999999")).size(), 12U) << "too long for a number";
}

TEST(ProjectNumberTest, AccountsAreOfTheDocumentedForms) {
  EXPECT_EQ(ServiceAccount("380211896040"),
            "service-380211896040@cloud-ml.google.com.iam.gserviceaccount.com");
  EXPECT_EQ(TpuServiceAccount("473645424018"), "service-473645424018@cloud-tpu.iam.gserviceaccount.com");
}

}  // namespace
}  // namespace trainyard::cluster
