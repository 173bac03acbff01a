#include "cli/jobs/job_request.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/wire/fit_fields.h"
#include "cli/gcloud/yaml.h"
#include "cli/jobs/config_file.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::cli::job_request_test {
namespace {

struct Row {
  const char* name;
  const char* config;  ///< YAML
  std::function<void(JobFlags&)> change;
  const char* job;  ///< compact JSON, or the error's text
};

class Build : public testing::TestWithParam<Row> {};

TEST_P(Build, MergesFileAndFlags) {
  JobFlags flags{.job_id = "j", .region = "r", .package_uris = {"gs://p"}};
  GetParam().change(flags);
  Result<Json> job = BuildJob(*FitConfig(*ParseYaml(GetParam().config), "c.yaml"), flags);
  EXPECT_EQ(job ? PrintCompact(*job) : job.error().message, GetParam().job);
}

void Nothing(JobFlags&) {}
void NoPackages(JobFlags& flags) { flags.package_uris.clear(); }
void Image(JobFlags& flags) {
  flags.package_uris.clear();
  flags.master.image_uri = "i:1";
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Build,
    testing::Values(
        Row{"no_file", "", Nothing,
            R"({"jobId":"j","trainingInput":{"enableWebAccess":false,"packageUris":["gs://p"],"region":"r"}})"},
        Row{"always_the_command_lines",
            "{jobId: x, trainingInput: {region: x, packageUris: [x], enableWebAccess: true}}", Nothing,
            R"({"jobId":"j","trainingInput":{"enableWebAccess":false,"packageUris":["gs://p"],"region":"r"}})"},
        Row{"packages_of_the_file_are_lost", "trainingInput: {packageUris: [x]}", NoPackages,
            "Non-custom jobs must have packages."},
        Row{"image_of_the_file_counts", "trainingInput: {masterConfig: {imageUri: i}}", NoPackages,
            R"({"jobId":"j","trainingInput":{"enableWebAccess":false,"masterConfig":{"imageUri":"i"},"region":"r"}})"},
        Row{"empty_image", "trainingInput: {masterConfig: {imageUri: ''}}", NoPackages,
            "Non-custom jobs must have packages."},
        Row{"leaf_by_leaf", "trainingInput: {masterConfig: {diskConfig: {bootDiskSizeGb: 7}, imageUri: x}}",
            Image,
            R"({"jobId":"j","trainingInput":{"enableWebAccess":false,"masterConfig":{"diskConfig":{"bootDiskSizeGb":7},"imageUri":"i:1"},"region":"r"}})"},
        Row{"labels_replace", "labels: {a: b}",
            [](JobFlags& flags) { flags.labels = std::map<std::string, std::string>{{"c", "d"}}; },
            R"({"jobId":"j","labels":{"c":"d"},"trainingInput":{"enableWebAccess":false,"packageUris":["gs://p"],"region":"r"}})"},
        Row{"unknown_things_stay", "{bogus: [1, {x: null}], trainingInput: {goal: NOPE, scaleTier: HUGE}}",
            Nothing,
            R"({"bogus":[1,{"x":null}],"jobId":"j","trainingInput":{"enableWebAccess":false,"goal":"NOPE","packageUris":["gs://p"],"region":"r","scaleTier":"HUGE"}})"},
        Row{"training_input_is_null", "trainingInput:", Nothing,
            R"({"jobId":"j","trainingInput":{"enableWebAccess":false,"packageUris":["gs://p"],"region":"r"}})"},
        Row{"unquoted_version", "trainingInput: {runtimeVersion: 2.10}", Nothing,
            R"({"jobId":"j","trainingInput":{"enableWebAccess":false,"packageUris":["gs://p"],"region":"r","runtimeVersion":"2.10"}})"}),
    [](const auto& row) { return row.param.name; });

struct FitRow {
  const char* name;
  const char* yaml;
  const char* json;
};

class Fit : public testing::TestWithParam<FitRow> {};

TEST_P(Fit, GivesKnownFieldsTheirForm) {
  Result<Json> job = wire::FitFields(*ParseYaml(GetParam().yaml), *ml::v1::Job::descriptor());
  EXPECT_EQ(job ? PrintCompact(*job) : job.error().field, GetParam().json);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Fit,
    testing::Values(
        FitRow{"int64", "trainingInput: {workerCount: 9}", R"({"trainingInput":{"workerCount":"9"}})"},
        FitRow{"int64_text", "trainingInput: {workerCount: '9'}", R"({"trainingInput":{"workerCount":"9"}})"},
        FitRow{"int32", "trainingInput: {hyperparameters: {maxTrials: 3}}",
               R"({"trainingInput":{"hyperparameters":{"maxTrials":3}}})"},
        FitRow{"single_of_list", "trainingInput: {args: a}", R"({"trainingInput":{"args":["a"]}})"},
        FitRow{"number_in_list", "trainingInput: {args: [a, 2, +.50, 0o7, 010, 1:30, 1_0]}",
               R"({"trainingInput":{"args":["a","2","+.50","0o7","010","1:30","1_0"]}})"},
        FitRow{"number_in_map", "labels: {a: 1}", R"({"labels":{"a":"1"}})"},
        FitRow{"bool_for_text", "trainingInput: {region: no}", "trainingInput.region"},
        FitRow{"duration_number", "trainingInput: {scheduling: {maxWaitTime: 3600}}",
               "trainingInput.scheduling.maxWaitTime"},
        FitRow{"duration", "trainingInput: {scheduling: {maxWaitTime: 3600s}}",
               R"({"trainingInput":{"scheduling":{"maxWaitTime":"3600s"}}})"},
        FitRow{"message_as_text", "trainingInput: hello", "trainingInput"},
        FitRow{"snake_case_is_the_servers", "training_input: {worker_count: 9}",
               R"({"training_input":{"worker_count":9}})"}),
    [](const auto& row) { return row.param.name; });

TEST(CheckCustomServer, Rules) {
  JobFlags flags;
  flags.scale_tier = "CUSTOM";
  EXPECT_FALSE(CheckCustomServer(flags, Json{}).has_value());
  flags.master.machine_type = "m";
  EXPECT_TRUE(CheckCustomServer(flags, Json{}).has_value());
  flags.master.image_uri = "i";
  flags.runtime_version = "2.1";
  EXPECT_EQ(CheckCustomServer(flags, Json{}).error().message,
            "Only one of --master-image-uri, --runtime-version can be set.");
  EXPECT_TRUE(CheckCustomServer({}, *ParseYaml("trainingInput: {scaleTier: CUSTOM}")).has_value());
}

}  // namespace
}  // namespace trainyard::cli::job_request_test
