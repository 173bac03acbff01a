#include "control/testing/world.h"

namespace trainyard::control {
namespace {

class JobCheckTest : public World {
 protected:
  v1::JobCheck Check(Job job, Creator creator = {}) {
    auto check = Await(service_->Check("p", std::move(job), std::move(creator)));
    EXPECT_TRUE(check) << check.error().message;
    return check.value_or(v1::JobCheck());
  }
  static std::vector<std::string> Fields(const v1::JobCheck& check) {
    std::vector<std::string> fields;
    for (const v1::JobCheck::Violation& violation : check.violations()) fields.push_back(violation.field());
    return fields;
  }
};

TEST_F(JobCheckTest, AGoodJobIsShownAndNotMade) {
  Job job = MakeJob("j");
  job.mutable_training_input()->set_job_dir("gs://new-bucket/j");
  const v1::JobCheck check = Check(job);
  EXPECT_TRUE(check.violations().empty()) << check.DebugString();
  EXPECT_EQ(check.job().job_id(), "j");
  EXPECT_TRUE(check.job().has_training_output());
  EXPECT_FALSE(check.job().has_create_time());
  ASSERT_EQ(check.notes_size(), 1);
  EXPECT_THAT(check.notes(0), HasSubstr("gs://new-bucket"));
  EXPECT_FALSE(Await(buckets_->GetBucket("new-bucket"))) << "it would be made, and is not";
  EXPECT_EQ(Await(service_->Get({"p", "j"})).error().code, Code::kNotFound);
  EXPECT_TRUE(Create(job)) << "and nothing of it is taken";
}

TEST_F(JobCheckTest, SaysAllThatIsWrong) {
  Job job = MakeJob("9bad");
  job.mutable_training_input()->set_region("nowhere");
  job.mutable_training_input()->mutable_scheduling()->set_priority(-1);
  EXPECT_THAT(Fields(Check(job)), ElementsAre("job.job_id", "region", "scheduling.priority"));
  const Result<Job> created = Create(job);
  EXPECT_EQ(created.error().field, "job.job_id") << "create names the first";
}

TEST_F(JobCheckTest, LooksUpWhatTheRulesCannotKnow) {
  ASSERT_TRUE(Create(MakeJob("taken")));
  Job job = MakeJob("taken");
  job.mutable_training_input()->add_package_uris("gs://none/a.tar.gz");
  job.mutable_training_input()->add_package_uris("gs://none/b.tar.gz");
  job.mutable_training_input()->mutable_hyperparameters()->set_resume_previous_job_id("none");
  EXPECT_THAT(Fields(Check(job)), ElementsAre("package_uris", "package_uris",
                                              "hyperparameters.resume_previous_job_id", "job.job_id"));
}

TEST_F(JobCheckTest, SaysWhatCouldNotBeAskedAndNothingOfTheJob) {
  Job job = MakeJob("j");
  job.mutable_training_input()->mutable_hyperparameters()->set_resume_previous_job_id("former");
  job.mutable_training_input()->mutable_hyperparameters()->set_hyperparameter_metric_tag("loss");
  store_.full = true;
  const v1::JobCheck check = Check(MakeJob("j"));
  EXPECT_TRUE(check.violations().empty()) << check.DebugString();
  ASSERT_EQ(check.notes_size(), 1) << check.DebugString();
  EXPECT_THAT(check.notes(0), HasSubstr("the disk is full"));
  for (const std::string& field : Fields(Check(job))) EXPECT_NE(field, "") << "a store is no field";
  store_.full = false;
}

TEST_F(JobCheckTest, AsksForWhatCreatingNeeds) {
  const Creator nobody{
      .principal = "user:ann@example.com",
      .require = [](std::string permission, iam::Resource) -> boost::asio::awaitable<Status> {
        co_return std::unexpected(PermissionDenied("no " + permission));
      }};
  Job job = MakeJob("j");
  job.mutable_training_input()->set_job_dir("gs://new-bucket/j");
  const v1::JobCheck check = Check(job, nobody);
  EXPECT_THAT(Fields(check), testing::Contains("job_dir"));
}

TEST_F(JobCheckTest, ShowsNoSecret) {
  Job job = MakeJob("j");
  ml::v1::EnvVar& variable = *job.mutable_training_input()->add_env();
  variable.set_name("KEY");
  variable.set_value("open sesame");
  variable.set_secret(true);
  EXPECT_THAT(Check(job).DebugString(), testing::Not(HasSubstr("sesame")));
  job.set_job_id("9bad");
  EXPECT_THAT(Check(job).DebugString(), testing::Not(HasSubstr("sesame")));
}

}  // namespace
}  // namespace trainyard::control
