#include "rules/jobs/prepare.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "rules/jobs/trial.h"

namespace trainyard::jobs {
namespace {

using control::v1::JobRecord;
using ml::v1::Job;

JobRecord Learner(const std::string& job_dir) {
  JobRecord record;
  record.mutable_job()->set_job_id("iris_1");
  record.mutable_job()->mutable_training_input()->set_job_dir(job_dir);
  record.mutable_job()->mutable_training_input()->set_region("us-central1");
  record.mutable_job()->mutable_training_input()->mutable_master_config()->set_image_uri(
      "gcr.io/cloud-ml-algos/linear_learner_cpu:latest");
  ml::v1::BuiltInAlgorithmOutput output;
  output.set_framework("TENSORFLOW");
  output.set_runtime_version("2.15");
  output.set_python_version("3.11");
  SetAlgorithm("linear_learner", "model/", output, record);
  return record;
}

std::string ModelPath(JobRecord record, Job::State state) {
  record.mutable_job()->set_state(state);
  SetModelPath(record);
  return record.job().training_output().built_in_algorithm_output().model_path();
}

TEST(AlgorithmOutput, IsShownFromTheCreationOn) {
  const JobRecord record = Learner("gs://b/iris");
  EXPECT_TRUE(record.job().training_output().is_built_in_algorithm_job());
  EXPECT_EQ(record.job().training_output().built_in_algorithm_output().framework(), "TENSORFLOW");
  EXPECT_EQ(record.job().training_output().built_in_algorithm_output().model_path(), "");
}

TEST(AlgorithmOutput, WaitsForNoTpu) {
  JobRecord record = Learner("gs://b/iris");
  auto& master = *record.add_replicas();
  master.mutable_accelerators()->set_type(ml::v1::AcceleratorConfig::TPU_V2);
  auto& gpus = *record.add_replicas();
  gpus.mutable_accelerators()->set_type(ml::v1::AcceleratorConfig::NVIDIA_TESLA_T4);
  SetAlgorithm("image_classification", "model/", {}, record);
  EXPECT_FALSE(record.replicas(0).has_accelerators());
  EXPECT_TRUE(record.replicas(1).has_accelerators());
}

TEST(AlgorithmOutput, HasTheModelOfASuccessAlone) {
  EXPECT_EQ(ModelPath(Learner("gs://b/iris"), Job::SUCCEEDED), "gs://b/iris/model/");
  EXPECT_EQ(ModelPath(Learner("gs://b/iris/"), Job::SUCCEEDED), "gs://b/iris/model/");
  EXPECT_EQ(ModelPath(Learner("gs://b/iris"), Job::FAILED), "");
  EXPECT_EQ(ModelPath(Learner("gs://b/iris"), Job::CANCELLED), "");
  JobRecord own;
  own.mutable_job()->set_state(Job::SUCCEEDED);
  SetModelPath(own);
  EXPECT_FALSE(own.job().has_training_output());
}

TEST(AlgorithmOutput, OfATuningJobIsItsTrials) {
  JobRecord tuning = Learner("gs://b/iris");
  auto* param = tuning.mutable_job()->mutable_training_input()->mutable_hyperparameters()->add_params();
  param->set_parameter_name("learning_rate");
  tuning.mutable_tuning();
  EXPECT_EQ(ModelPath(tuning, Job::SUCCEEDED), "");

  control::v1::Event::TrialCreated created;
  created.set_trial_id("3");
  JobRecord trial = MakeTrial(tuning, created, SysTime{});
  EXPECT_EQ(trial.algorithm(), "linear_learner");
  trial.mutable_job()->set_state(Job::SUCCEEDED);
  SetModelPath(trial);
  const ml::v1::HyperparameterOutput shown = TrialOutput(trial, {});
  EXPECT_EQ(shown.built_in_algorithm_output().model_path(), "gs://b/iris/3/model/");
  EXPECT_EQ(shown.built_in_algorithm_output().framework(), "TENSORFLOW");
}

}  // namespace
}  // namespace trainyard::jobs
