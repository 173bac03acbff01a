#include "rules/iam/method_table.h"

#include <gtest/gtest.h>

namespace trainyard::iam {
namespace {

TEST(ServiceNameTest, IsThatOfThePermission) {
  EXPECT_EQ(ServiceName("storage.objects.create", "x"), "storage.googleapis.com");
  EXPECT_EQ(ServiceName("ml.jobs.get", "google.cloud.ml.v1.JobService.GetJob"), "ml.googleapis.com");
  EXPECT_EQ(ServiceName("resourcemanager.projects.get", "GetProject"), "cloudresourcemanager.googleapis.com");
  EXPECT_EQ(ServiceName("trainyard.tokens.create", "trainyard.v1.Tokens.CreateToken"), "trainyard");
}

TEST(ServiceNameTest, IsThatOfTheMethodWhereNoneIsAsked) {
  EXPECT_EQ(ServiceName("", "google.iam.admin.v1.ListRoles"), "iam.googleapis.com");
  EXPECT_EQ(ServiceName("", "google.iam.v1.IAMPolicy.TestIamPermissions"), "ml.googleapis.com");
  EXPECT_EQ(ServiceName("", "storage.testIamPermissions"), "storage.googleapis.com");
  EXPECT_EQ(ServiceName("", "TestIamPermissions"), "cloudresourcemanager.googleapis.com");
  EXPECT_EQ(ServiceName("", "trainyard.v1.Runtimes.List"), "trainyard");
  EXPECT_EQ(ServiceName("", ""), "trainyard");
}

}  // namespace
}  // namespace trainyard::iam
