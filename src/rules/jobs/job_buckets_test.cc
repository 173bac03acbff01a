#include "rules/jobs/job_buckets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::jobs {
namespace {

using testing::ElementsAre;

TEST(BucketsOf, NamesEachBucketOnceWithItsFirstField) {
  ml::v1::TrainingInput input;
  input.set_job_dir("gs://models/out");
  input.add_package_uris("gs://models/out/packages/trainer.tar.gz");
  input.add_package_uris("gs://staging/trainer.tar.gz");
  for (const char* argument : {"--job-dir", "gs://other.b_1-c/x", "--data=gs://train/a,gs://eval", "gs://",
                               "gs://staging/y", "train"})
    input.add_args(argument);
  EXPECT_THAT(BucketsOf(input),
              ElementsAre(NamedBucket{"models", "jobDir"}, NamedBucket{"staging", "packageUris"},
                          NamedBucket{"other.b_1-c", "args"}, NamedBucket{"train", "args"},
                          NamedBucket{"eval", "args"}));
}

TEST(BucketsOf, NamesThoseOfPackagesOfRoles) {
  ml::v1::TrainingInput input;
  input.add_package_uris("gs://staging/trainer.tar.gz");
  input.mutable_worker_config()->add_package_uris("gs://staging/worker.tar.gz");
  input.mutable_parameter_server_config()->add_package_uris("gs://servers/server.tar.gz");
  EXPECT_THAT(BucketsOf(input), ElementsAre(NamedBucket{"staging", "packageUris"},
                                            NamedBucket{"servers", "parameterServerConfig.packageUris"}));
}

TEST(BucketsOf, IsEmptyForAJobWithoutBuckets) {
  ml::v1::TrainingInput input;
  input.add_args("--epochs=3");
  EXPECT_THAT(BucketsOf(input), ElementsAre());
}

TEST(UploadedBucketWarning, NamesBothBucketsAndWhatToDo) {
  EXPECT_EQ(
      UploadedBucketWarning({"my-modles", "jobDir"}, "my-models"),
      "The bucket gs://my-modles of the job's jobDir did not exist until a file was uploaded to it; did "
      "you mean gs://my-models? If the name is right, ignore this: it is said once.");
}

}  // namespace
}  // namespace trainyard::jobs
