#include "rules/cluster/role_packages.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace trainyard::cluster {
namespace {

using ::testing::ElementsAre;

control::v1::JobRecord Record() {
  control::v1::JobRecord record;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "packages { uri: 'gs://b/job.whl' } "
      "role_packages { type: WORKER packages { uri: 'gs://b/worker.whl' } }",
      &record));
  return record;
}

TEST(PackagesOf, AreTheRolesOwnOrTheJobs) {
  const control::v1::JobRecord record = Record();
  EXPECT_EQ(PackagesOf(record, replica::v1::WORKER).Get(0).uri(), "gs://b/worker.whl");
  EXPECT_EQ(PackagesOf(record, replica::v1::MASTER).Get(0).uri(), "gs://b/job.whl");
  EXPECT_EQ(PackagesOf(record, replica::v1::EVALUATOR).Get(0).uri(), "gs://b/job.whl");
}

TEST(PackageLists, AreThoseOfTheJobAndOfItsRoles) {
  const control::v1::JobRecord record = Record();
  EXPECT_THAT(PackageLists(record), ElementsAre(&record.packages(), &record.role_packages(0).packages()));
}

TEST(ModuleOf, IsTheRolesOwnOrTheJobs) {
  ml::v1::TrainingInput input;
  EXPECT_EQ(ModuleOf(input, input.worker_config()), "");
  input.set_python_module("trainer.task");
  input.mutable_evaluator_config()->set_python_module("trainer.judge");
  EXPECT_EQ(ModuleOf(input, input.worker_config()), "trainer.task");
  EXPECT_EQ(ModuleOf(input, input.evaluator_config()), "trainer.judge");
}

}  // namespace
}  // namespace trainyard::cluster
