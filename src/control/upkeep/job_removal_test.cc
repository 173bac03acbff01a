#include "control/upkeep/job_removal.h"

#include "control/run/service_log.h"
#include "control/testing/world.h"

namespace trainyard::control {
namespace {

class JobRemovalTest : public World {
 protected:
  JobRemovalTest() {
    replicas_->SetScript([](const Manifest& manifest) {
      return FakeScript{.lines = {"x"},
                        .exit = stays_ == manifest.job_id() ? std::nullopt : std::optional(Exit(0))};
    });
  }
  ~JobRemovalTest() override { stays_.clear(); }
  static Job MakeTuningJob(const std::string& job_id) {
    Job job = MakeJob(job_id);
    ml::v1::HyperparameterSpec& spec = *job.mutable_training_input()->mutable_hyperparameters();
    spec.set_max_trials(2);
    spec.set_max_parallel_trials(2);
    spec.set_hyperparameter_metric_tag("accuracy");
    ml::v1::ParameterSpec& x = *spec.add_params();
    x.set_parameter_name("x");
    x.set_type(ml::v1::ParameterSpec::DOUBLE);
    x.set_max_value(1);
    return job;
  }
  void RunToItsEnd(Job job) {
    const std::string job_id = job.job_id();
    ASSERT_TRUE(Create(std::move(job)));
    ASSERT_TRUE(WaitForEnd(job_id, Job::SUCCEEDED));
  }
  Status Delete(const std::string& job_id) { return Await(service_->removal().Delete({"p", job_id})); }
  std::int64_t LinesOf(const v1::JobRecord& job) {
    return *Await(logs_->NextLine(LogUid(job), ServiceSource(job).source));
  }
  /// Nothing is left of the job.
  void ExpectGone(const v1::JobRecord& job) {
    EXPECT_EQ(Await(service_->Get({"p", job.job().job_id()})).error().code, Code::kNotFound);
    EXPECT_EQ(LinesOf(job), 0);
    EXPECT_TRUE(EventsOf(job).empty());
    EXPECT_TRUE(TrialsOf(job).empty());
    EXPECT_TRUE(Await(journal_->Read([&](store::JobStore& jobs) { return jobs.Removing(10); }))->empty());
  }

  static inline std::string stays_;  ///< the job that runs for ever
};

TEST_F(JobRemovalTest, DeletesAJobThatHasEnded) {
  RunToItsEnd(MakeJob("a"));
  RunToItsEnd(MakeJob("b"));
  const v1::JobRecord a = Record("a");
  ASSERT_GT(LinesOf(a), 0);
  const Status deleted = Delete("a");
  ASSERT_TRUE(deleted) << deleted.error().message;
  ExpectGone(a);
  EXPECT_EQ(Delete("a").error().code, Code::kNotFound);
  EXPECT_EQ(Create(MakeJob("a")).error().code, Code::kAlreadyExists) << "its id stays taken";
  EXPECT_GT(LinesOf(Record("b")), 0);
}

TEST_F(JobRemovalTest, RefusesAJobThatHasNotEnded) {
  stays_ = "a";
  ASSERT_TRUE(Create(MakeJob("a")));
  ASSERT_TRUE(WaitForState("a", Job::RUNNING));
  const Status refused = Delete("a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(refused.error().message, HasSubstr("The job a has not ended"));
  EXPECT_EQ(Await(service_->removal().RemoveEnded({Record("a").uid()}))->jobs, 0);
  EXPECT_EQ(Get("a").state(), Job::RUNNING);
}

TEST_F(JobRemovalTest, TakesTheTrialsAlong) {
  RunToItsEnd(MakeTuningJob("a"));
  const v1::JobRecord a = Record("a");
  ASSERT_EQ(TrialsOf(a).size(), 2U);
  ASSERT_TRUE(RunUntil([&] { return service_->registry().tuning().Find(a.uid()) == nullptr; }));
  EXPECT_EQ(Await(service_->removal().RemoveEnded({a.uid()}))->jobs, 1);
  ExpectGone(a);
}

TEST_F(JobRemovalTest, WhatAnUnfinishedTuningJobResumesStays) {
  RunToItsEnd(MakeTuningJob("a"));
  const v1::JobRecord a = Record("a");
  stays_ = "b";
  Job job = MakeTuningJob("b");
  job.mutable_training_input()->mutable_hyperparameters()->set_resume_previous_job_id("a");
  ASSERT_TRUE(Create(std::move(job)));
  EXPECT_EQ(Await(service_->removal().RemoveEnded({a.uid()}))->jobs, 0);
  const Status refused = Delete("a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(refused.error().message, HasSubstr("resumes the job a"));
  ASSERT_TRUE(Cancel("b"));
  ASSERT_TRUE(WaitForEnd("b", Job::CANCELLED));
  ASSERT_TRUE(RunUntil([&] { return !service_->removal().NeededJobs().contains(a.uid()); }));
  EXPECT_TRUE(Delete("a"));
}

TEST_F(JobRemovalTest, TheNextServerFinishesWhatAKilledOneBegan) {
  RunToItsEnd(MakeJob("a"));
  RunToItsEnd(MakeJob("b"));
  const v1::JobRecord a = Record("a");
  ASSERT_EQ(*Await(journal_->BeginRemoval({a.uid()})), 1);
  KillServer();
  StartServer();
  EXPECT_EQ(Await(service_->Get({"p", "a"})).error().code, Code::kNotFound);
  EXPECT_GT(LinesOf(a), 0);
  const Result<RemovedJobs> removed = Await(service_->removal().RemoveEnded({}));
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_EQ(removed->jobs, 1);
  EXPECT_GT(removed->bytes, 0);
  ExpectGone(a);
  EXPECT_EQ(Get("b").state(), Job::SUCCEEDED);
}

TEST_F(JobRemovalTest, WithoutSpaceNothingIsCreated) {
  RunToItsEnd(MakeJob("a"));
  has_space_ = false;
  KillServer();
  StartServer();
  const Result<Job> refused = Create(MakeJob("b"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kResourceExhausted);
  EXPECT_EQ(Get("a").state(), Job::SUCCEEDED);
}

}  // namespace
}  // namespace trainyard::control
