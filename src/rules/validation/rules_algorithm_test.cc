
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rules/validation/validate.h"

namespace trainyard::jobs {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Without what runs containers: algorithms need none.
ValidationContext Here() { return {.tuning = true, .gpus = true, .tpus = true}; }

ml::v1::Job Make(const std::string& input) {
  ml::v1::Job job;
  job.set_job_id("iris_1");
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(input, job.mutable_training_input())) << input;
  return job;
}

/// "" if valid, else "field: message".
std::string Verdict(const std::string& input, const ValidationContext& context = Here()) {
  const Status status = Validate(Make(input), context);
  return status ? "" : status.error().field + ": " + status.error().message;
}

std::string Job(const std::string& algorithm, const std::string& more) {
  return "region: 'us-central1' job_dir: 'gs://bucket/j' master_config { image_uri: 'gcr.io/cloud-ml-algos/" +
         algorithm + ":latest' } " + more;
}

const std::string kTrees =
    "args: '--objective=multi:softmax' args: '--num_class=3' args: '--training_data_path=gs://bucket/d.csv' ";
const std::string kTreesJob = Job("boosted_trees", kTrees);
const std::string kSpread =
    Job("xgboost_dist",
        "args: '--objective=reg:squarederror' args: '--training_data_path=gs://bucket/t*' "
        "args: '--validation_data_path=gs://bucket/v*' ");

TEST(AlgorithmRule, TakesJobsOfTheOriginalsPages) {
  EXPECT_EQ(Verdict(kTreesJob), "");
  EXPECT_EQ(Verdict(kTreesJob + "scale_tier: CUSTOM master_type: 'n1-highmem-8'"), "");
  EXPECT_EQ(Verdict(kSpread + "scale_tier: CUSTOM master_type: 'n1-standard-4' worker_type: 'n1-standard-4' "
                              "worker_count: 2"),
            "");
}

TEST(AlgorithmRule, WantsWhatTheAlgorithmTakes) {
  EXPECT_THAT(
      Verdict(kTreesJob + "args: '--max_deep=3'"),
      StartsWith("args: The algorithm boosted_trees has no argument --max_deep. Did you mean --max_depth?"));
  EXPECT_THAT(Verdict(Job("boosted_trees", "args: '--training_data_path=gs://bucket/d'")),
              StartsWith("args: The algorithm boosted_trees needs --objective: "));
  EXPECT_THAT(
      Verdict("region: 'us-central1' master_config { image_uri: 'gcr.io/cloud-ml-algos/boosted_trees' } " +
              kTrees),
      StartsWith("job_dir: This field is required"));
  EXPECT_THAT(Verdict(Job("boosted_tree", kTrees)),
              StartsWith("master_config.image_uri: There is no built-in algorithm of the image "
                         "'gcr.io/cloud-ml-algos/boosted_tree:latest'. There are: gcr.io/cloud-ml-algos/"));
}

TEST(AlgorithmRule, HasAProgramOfItsOwn) {
  EXPECT_THAT(Verdict(kTreesJob + "python_module: 't' package_uris: 'gs://bucket/t.tar.gz'"),
              StartsWith("package_uris: "));
  EXPECT_THAT(Verdict(kTreesJob + "python_module: 't'"), StartsWith("python_module: "));
  EXPECT_THAT(
      Verdict(kTreesJob + "worker_config { package_uris: 'gs://bucket/o' python_module: 't' }"),
      StartsWith("worker_config.package_uris: The built-in algorithm boosted_trees has a program of its "
                 "own"));
  ml::v1::Job own = Make(kTreesJob);
  own.mutable_training_input()->clear_args();
  own.mutable_training_input()->mutable_master_config()->add_container_args("--num_class=3");
  EXPECT_EQ(Validate(own, Here()).error().field, "master_config.container_args");
  own.mutable_training_input()->mutable_master_config()->clear_container_args();
  own.mutable_training_input()->mutable_master_config()->add_args("--num_class=3");
  EXPECT_EQ(Validate(own, Here()).error().field, "master_config.args");
  EXPECT_THAT(
      Verdict(kSpread + "scale_tier: CUSTOM master_type: 'n1-standard-4' worker_type: 'n1-standard-4' "
                        "worker_count: 2 worker_config { image_uri: 'gcr.io/p/i' }"),
      StartsWith("worker_config.image_uri: All replicas of the built-in algorithm xgboost_dist"));
  EXPECT_THAT(
      Verdict("region: 'us-central1' master_config { image_uri: 'gcr.io/p/i' } scale_tier: CUSTOM "
              "master_type: 'n1-standard-4' worker_type: 'n1-standard-4' worker_count: 2 "
              "worker_config { image_uri: 'gcr.io/cloud-ml-algos/xgboost_dist:latest' }"),
      StartsWith("worker_config.image_uri: The built-in algorithm xgboost_dist runs on all replicas"));
}

TEST(AlgorithmRule, KnowsWhichMachinesItUses) {
  EXPECT_EQ(Verdict(kTreesJob + "scale_tier: STANDARD_1"),
            "scale_tier: The algorithm boosted_trees is not distributed: it runs on a master alone.");
  EXPECT_THAT(
      Verdict(kTreesJob + "scale_tier: CUSTOM master_type: 'n1-standard-4' worker_type: 'n1-standard-4' "
                          "worker_count: 1"),
      StartsWith("worker_count: "));
  EXPECT_EQ(Verdict(kTreesJob + "scale_tier: BASIC_TPU"),
            "scale_tier: The algorithm boosted_trees does not run on TPUs.");
  EXPECT_EQ(Verdict(kSpread),
            "scale_tier: The algorithm xgboost_dist needs a master and at least one worker.");
  EXPECT_THAT(
      Verdict(kSpread + "scale_tier: CUSTOM master_type: 'n1-standard-4' worker_type: 'n1-standard-4' "
                        "worker_count: 1 parameter_server_type: 'n1-standard-4' parameter_server_count: 1"),
      StartsWith("parameter_server_count: The algorithm xgboost_dist runs on a master and workers alone."));
  EXPECT_EQ(Verdict(kSpread + "scale_tier: STANDARD_1"),
            "scale_tier: The algorithm xgboost_dist runs on a master and workers alone.")
      << "the tier brings parameter servers";
  ValidationContext without = Here();
  without.tpus = false;
  EXPECT_EQ(
      Verdict(
          Job("image_classification",
              "scale_tier: BASIC_TPU args: '--num_classes=2' args: '--max_steps=1' "
              "args: '--training_data_path=gs://bucket/t*' args: '--validation_data_path=gs://bucket/v*'"),
          without),
      "")
      << "it trains on the CPU, and a note says so";
}

TEST(AlgorithmRule, TunesWhatItTakesByItsMetrics) {
  const auto tuned = [](const std::string& tag, const std::string& param) {
    return Verdict(kTreesJob + "hyperparameters { goal: MINIMIZE hyperparameter_metric_tag: '" + tag +
                   "' params { " + param + " } }");
  };
  const std::string eta = "parameter_name: 'eta' type: DOUBLE min_value: 0.1 max_value: 0.5";
  EXPECT_EQ(tuned("merror", eta), "");
  EXPECT_THAT(
      tuned("merrors", eta),
      StartsWith("hyperparameters.hyperparameter_metric_tag: The algorithm boosted_trees has no metric "
                 "'merrors'. Did you mean 'merror'? Its metrics are "));
  const std::string further = eta + " } further_metrics { goal: MINIMIZE hyperparameter_metric_tag: ";
  EXPECT_EQ(tuned("merror", further + "'mlogloss'"), "");
  EXPECT_THAT(tuned("merror", further + "'logloss_of_mine'"),
              StartsWith("hyperparameters.further_metrics[0].hyperparameter_metric_tag: The algorithm "
                         "boosted_trees has no metric 'logloss_of_mine'."));
  EXPECT_THAT(tuned("", eta), HasSubstr("This field is required for built-in algorithms."));
  EXPECT_THAT(tuned("merror", "parameter_name: 'eta' type: DOUBLE min_value: 0.1 max_value: 5"),
              StartsWith("hyperparameters.params[0]: --eta must be "));
  EXPECT_EQ(tuned("merror", "parameter_name: 'max_depth' type: DOUBLE min_value: 1 max_value: 5"),
            "hyperparameters.params[0].type: --max_depth takes whole numbers: the type must be INTEGER or "
            "DISCRETE.");
  EXPECT_EQ(tuned("merror", "parameter_name: 'max_depth' type: INTEGER min_value: 1 max_value: 5"), "");
  const std::string one = "parameter_name: 'max_depth' type: INTEGER min_value: 1 max_value: 5 } params { ";
  const std::string deep = " condition { parameter_name: 'max_depth' values: '5' }";
  EXPECT_EQ(tuned("merror", one + eta + deep), "");
  EXPECT_EQ(tuned("merror", one +
                                "parameter_name: 'objective' type: CATEGORICAL "
                                "categorical_values: ['multi:softmax', 'multi:softprob']" +
                                deep),
            "hyperparameters.params[1].condition: --objective is required in every trial: leave out the "
            "condition.");
  EXPECT_EQ(
      tuned("merror", "parameter_name: 'booster' type: CATEGORICAL categorical_values: ['gbtree', 'dart']"),
      "");
  EXPECT_THAT(tuned("merror", "parameter_name: 'booster' type: CATEGORICAL categorical_values: 'bush'"),
              StartsWith("hyperparameters.params[0]: --booster must be one of "));
}

TEST(AlgorithmRule, AnImageMapOfTheOperatorWins) {
  ValidationContext context = Here();
  context.containers = true;
  context.mapped_images = {"gcr.io/cloud-ml-algos/*"};
  EXPECT_EQ(Verdict(Job("boosted_trees", "args: '--whatever'"), context), "");
  EXPECT_EQ(AlgorithmOf(Make(kTreesJob).training_input(), context.mapped_images), nullptr);
  ASSERT_NE(AlgorithmOf(Make(kTreesJob).training_input(), {}), nullptr);
  EXPECT_EQ(AlgorithmOf(Make(kTreesJob).training_input(), {})->name(), "boosted_trees");
}

}  // namespace
}  // namespace trainyard::jobs
