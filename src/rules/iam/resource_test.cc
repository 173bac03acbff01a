#include "rules/iam/resource.h"

#include <gtest/gtest.h>

namespace trainyard::iam {
namespace {

TEST(Resource, HasAName) {
  EXPECT_EQ(NameOf(Resource::Installation()), "trainyard");
  EXPECT_EQ(NameOf(Resource::Project("p")), "projects/p");
  EXPECT_EQ(NameOf(Resource::Job("p", "j")), "projects/p/jobs/j");
  EXPECT_EQ(NameOf(Resource::Bucket("b")), "projects/_/buckets/b");
  EXPECT_EQ(NameOf(Resource::ServiceAccount("p", "a@b.c")), "projects/p/serviceAccounts/a@b.c");
}

}  // namespace
}  // namespace trainyard::iam
