#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "golden/api/golden_files.h"

/// Every restriction that the pages and the API description state: an accepted example, changed in one place,
/// is refused with the field named.
namespace trainyard::golden {
namespace {

namespace json = boost::json;

/// RFC 7396: null removes, objects are merged, anything else replaces.
void Merge(json::value& target, const json::value& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = json::object();
  for (const auto& [key, value] : patch.get_object()) {
    if (value.is_null()) {
      target.get_object().erase(key);
    } else {
      Merge(target.get_object()[key], value);
    }
  }
}

struct Row {
  const char* name;
  const char* example;
  const char* patch;  ///< of trainingInput
  const char* field;
  const char* reason = "";  ///< its beginning
};
class Restrictions : public testing::TestWithParam<Row> {};

TEST_P(Restrictions, NameTheField) {
  json::value request = json::parse(ReadGolden("examples", GetParam().example, "request.json"));
  ASSERT_TRUE(Create(json::serialize(request))) << "the example alone is fine";
  Merge(request.at("trainingInput"), json::parse(GetParam().patch));
  const auto made = Create(json::serialize(request));
  ASSERT_FALSE(made) << json::serialize(request);
  EXPECT_EQ(made.error().code, Code::kInvalidArgument);
  EXPECT_EQ(made.error().field, GetParam().field) << made.error().message;
  EXPECT_TRUE(made.error().message.starts_with(GetParam().reason)) << made.error().message;
  const json::value body = json::parse(ResponseText(made));
  const json::value& violation = body.at_pointer("/error/details/0/fieldViolations/0");
  EXPECT_EQ(violation.at("field").as_string(), GetParam().field);
  EXPECT_EQ(violation.at("description").as_string(), made.error().message);
  EXPECT_EQ(body.at_pointer("/error/message").as_string(),
            "Field: " + made.error().field + " Error: " + made.error().message);
}

std::string RowName(const testing::TestParamInfo<Row>& row) { return row.param.name; }

constexpr char kGpus[] = "gpus_config_compute_engine";
INSTANTIATE_TEST_SUITE_P(
    UsingGpus, Restrictions,
    testing::Values(
        Row{"never_three", kGpus, R"({"masterConfig": {"acceleratorConfig": {"count": "3"}}})",
            "master_config.accelerator_config.count"},
        Row{"enough_for_the_machine", kGpus, R"({"workerConfig": {"acceleratorConfig": {"count": "1"}}})",
            "worker_config.accelerator_config.count",
            "The machine type n1-highcpu-16 cannot have 1 NVIDIA_TESLA_K80 accelerators. Allowed numbers: 2, "
            "4, 8."},
        Row{"n1_standard_32_needs_four_v100", kGpus,
            R"({"masterType": "n1-standard-32", "masterConfig": {"acceleratorConfig": {"count": "2", "type": "NVIDIA_TESLA_V100"}}})",
            "master_config.accelerator_config.count"},
        Row{"eight_k80_have_208_gb", kGpus,
            R"({"masterType": "n1-standard-64", "masterConfig": {"acceleratorConfig": {"count": "8"}}})",
            "master_config.accelerator_config.type"},
        Row{"four_p100_have_64_vcpus", kGpus,
            R"({"masterType": "n1-highcpu-96", "masterConfig": {"acceleratorConfig": {"type": "NVIDIA_TESLA_P100"}}})",
            "master_config.accelerator_config.type"},
        Row{"a100_only_on_a2", kGpus,
            R"({"masterConfig": {"acceleratorConfig": {"type": "NVIDIA_TESLA_A100"}}})",
            "master_config.accelerator_config.type"},
        Row{"a2_has_its_own_number", "a2_with_accelerators",
            R"({"masterConfig": {"acceleratorConfig": {"count": 8}}})",
            "master_config.accelerator_config.count"},
        Row{"a2_has_no_other_gpus", "a2_with_accelerators",
            R"({"masterConfig": {"acceleratorConfig": {"type": "NVIDIA_TESLA_T4", "count": 1}}})",
            "master_config.accelerator_config.type"},
        Row{"region_without_gpus", kGpus, R"({"region": "us-west3"})", "region",
            "NVIDIA_TESLA_K80 accelerators are not available in region us-west3."},
        Row{"region_without_that_gpu", kGpus, R"({"region": "us-west2"})", "region"},
        Row{"region_of_basic_gpu", "gpus_basic_gpu", R"({"region": "europe-west6"})", "region"},
        Row{"region_of_legacy_gpus", "gpus_config_legacy", R"({"region": "europe-north1"})", "region"},
        Row{"region_of_a2", "a2_without_accelerators", R"({"region": "asia-south1"})", "region"},
        Row{"one_zone", kGpus,
            R"({"masterConfig": {"acceleratorConfig": {"type": "NVIDIA_TESLA_T4"}},
                "workerConfig": {"acceleratorConfig": {"type": "NVIDIA_TESLA_K80"}},
                "parameterServerConfig": {"acceleratorConfig": {"type": "NVIDIA_TESLA_P100", "count": 1}}})",
            "region",
            "All accelerators of a job must be available in a single zone of its region, and no zone of "
            "us-central1 "
            "has NVIDIA_TESLA_K80, NVIDIA_TESLA_P100, NVIDIA_TESLA_T4 together."},
        Row{"not_on_legacy_types", "gpus_config_legacy",
            R"({"masterConfig": {"acceleratorConfig": {"type": "NVIDIA_TESLA_K80", "count": 4}}})",
            "master_config.accelerator_config"},
        Row{"not_on_legacy_evaluators", "containers_distributed",
            R"({"evaluatorConfig": {"acceleratorConfig": {"type": "NVIDIA_TESLA_K80", "count": 4}}})",
            "evaluator_config.accelerator_config"},
        Row{"no_type", kGpus, R"({"masterConfig": {"acceleratorConfig": {"type": null}}})",
            "master_config.accelerator_config.type"},
        Row{"no_count", kGpus, R"({"masterConfig": {"acceleratorConfig": {"count": null}}})",
            "master_config.accelerator_config.count"},
        Row{"not_with_a_tier", "gpus_basic_gpu",
            R"({"masterConfig": {"acceleratorConfig": {"type": "NVIDIA_TESLA_K80", "count": 1}}})",
            "master_config.accelerator_config"}),
    RowName);

constexpr char kTpu[] = "tpus_config_v3";
INSTANTIATE_TEST_SUITE_P(
    UsingTpus, Restrictions,
    testing::Values(
        Row{"not_the_master", kTpu, R"({"masterType": "cloud_tpu"})", "master_type",
            "The specified machine type for masteris not supported in TPU training jobs: cloud_tpu"},
        Row{"not_the_evaluator", kTpu, R"({"evaluatorType": "cloud_tpu", "evaluatorCount": 1})",
            "evaluator_type"},
        Row{"one_worker", kTpu, R"({"workerCount": 2})", "worker_count"},
        Row{"no_worker", kTpu, R"({"workerCount": 0})", "worker_count"},
        Row{"no_parameter_servers", kTpu,
            R"({"parameterServerType": "n1-standard-4", "parameterServerCount": 1})",
            "parameter_server_count"},
        Row{"eight_cores", kTpu, R"({"workerConfig": {"acceleratorConfig": {"count": 4}}})",
            "worker_config.accelerator_config.count"},
        Row{"no_cores", kTpu, R"({"workerConfig": {"acceleratorConfig": {"count": null}}})",
            "worker_config.accelerator_config.count"},
        Row{"no_gpus", kTpu, R"({"workerConfig": {"acceleratorConfig": {"type": "NVIDIA_TESLA_V100"}}})",
            "worker_config.accelerator_config.type"},
        Row{"v2_pod", kTpu, R"({"workerConfig": {"acceleratorConfig": {"type": "TPU_V2_POD", "count": 32}}})",
            "worker_config.accelerator_config.type"},
        Row{"v3_pod", kTpu, R"({"workerConfig": {"acceleratorConfig": {"type": "TPU_V3_POD", "count": 32}}})",
            "worker_config.accelerator_config.type"},
        Row{"v4_pod", kTpu, R"({"workerConfig": {"acceleratorConfig": {"type": "TPU_V4_POD", "count": 8}}})",
            "worker_config.accelerator_config.type"},
        Row{"v3_wants_a_compute_engine_master", kTpu, R"({"masterType": "standard"})",
            "worker_config.accelerator_config"},
        Row{"tpu_on_the_master", kTpu,
            R"({"masterConfig": {"acceleratorConfig": {"type": "TPU_V3", "count": 8}}})",
            "master_config.accelerator_config.type"},
        Row{"tpu_on_another_worker", kTpu, R"({"workerType": "n1-standard-4"})",
            "worker_config.accelerator_config.type"},
        Row{"regions", kTpu, R"({"region": "us-east1"})", "region"},
        Row{"regions_of_basic_tpu", "tpus_basic_tpu", R"({"region": "asia-east1"})", "region"},
        Row{"runtime_versions", kTpu, R"({"runtimeVersion": "2.3"})", "runtime_version",
            "The runtime version '2.3' does not support training with TPUs."},
        Row{"runtime_versions_of_basic_tpu", "tpus_basic_tpu", R"({"runtimeVersion": "2.11"})",
            "runtime_version"},
        Row{"container_wants_tpu_tf_version", "tpus_container_v2",
            R"({"workerConfig": {"tpuTfVersion": null}})", "worker_config.tpu_tf_version"},
        Row{"masters_container_wants_it_too", "tpus_container_v3",
            R"({"workerConfig": {"tpuTfVersion": null}})", "worker_config.tpu_tf_version"},
        Row{"basic_tpu_wants_it_too", "tpus_container_basic", R"({"workerConfig": {"tpuTfVersion": null}})",
            "worker_config.tpu_tf_version"},
        Row{"tpu_tf_version_with_tpu_support", "tpus_container_v2",
            R"({"workerConfig": {"tpuTfVersion": "2.11"}})", "worker_config.tpu_tf_version"},
        Row{"tpu_tf_version_of_the_master", "tpus_container_v2",
            R"({"masterConfig": {"tpuTfVersion": "2.2"}})", "master_config.tpu_tf_version"},
        Row{"tpu_tf_version_without_container", kTpu, R"({"workerConfig": {"tpuTfVersion": "1.15"}})",
            "worker_config.tpu_tf_version"},
        Row{"tpu_tf_version_without_tpu", "containers_flags", R"({"workerConfig": {"tpuTfVersion": "2.2"}})",
            "worker_config.tpu_tf_version"}),
    RowName);

constexpr char kCluster[] = "starting_custom_cluster";
INSTANTIATE_TEST_SUITE_P(
    StartingAJob, Restrictions,
    testing::Values(
        Row{"custom_wants_a_master", kCluster, R"({"masterType": null})", "master_type",
            "This value must be present when scale_tier is set to CUSTOM."},
        Row{"workers_want_a_type", kCluster, R"({"workerType": null})", "worker_type"},
        Row{"parameter_servers_want_a_type", kCluster, R"({"parameterServerType": null})",
            "parameter_server_type"},
        Row{"evaluators_want_a_type", kCluster, R"({"evaluatorType": null})", "evaluator_type"},
        Row{"types_want_a_count", kCluster, R"({"evaluatorCount": null})", "evaluator_count"},
        Row{"counts_want_custom", kCluster, R"({"scaleTier": "STANDARD_1"})", "worker_count"},
        Row{"counts_want_a_tier", kCluster, R"({"scaleTier": null})", "worker_count"},
        Row{"ps_counts_want_custom", kCluster, R"({"scaleTier": "BASIC", "workerCount": 0})",
            "parameter_server_count"},
        Row{"negative_count", kCluster, R"({"workerCount": "-1"})", "worker_count"},
        Row{"unknown_machine", kCluster, R"({"workerType": "n1-standard-2"})", "worker_type"},
        Row{"machine_of_another_family", kCluster, R"({"masterType": "t2d-standard-4"})", "master_type"},
        Row{"mixed_worker", kCluster, R"({"workerType": "standard"})", "worker_type"},
        Row{"mixed_parameter_server", kCluster, R"({"parameterServerType": "large_model"})",
            "parameter_server_type"},
        Row{"mixed_evaluator", kCluster, R"({"evaluatorType": "standard_gpu"})", "evaluator_type"},
        Row{"mixed_master", "gpus_config_legacy", R"({"masterType": "n1-standard-4"})", "worker_type"},
        Row{"wait_at_least_half_an_hour", kCluster, R"({"scheduling": {"maxWaitTime": "1799s"}})",
            "scheduling.max_wait_time", "The minimum for this field is 1800s (30 minutes)."},
        Row{"running_time", kCluster, R"({"scheduling": {"maxRunningTime": "0s"}})",
            "scheduling.max_running_time"},
        Row{"priority_high", kCluster, R"({"scheduling": {"priority": 1001}})", "scheduling.priority"},
        Row{"priority_low", kCluster, R"({"scheduling": {"priority": -1}})", "scheduling.priority"},
        Row{"region_required", kCluster, R"({"region": null})", "region", "This field is required."},
        Row{"job_dir", kCluster, R"({"jobDir": "/home/me/out"})", "job_dir"},
        Row{"job_dir_of_another_store", kCluster, R"({"jobDir": "s3://bucket/out"})", "job_dir"},
        Row{"packages_required", kCluster, R"({"packageUris": null})", "package_uris"},
        Row{"packages_in_buckets", kCluster, R"({"packageUris": ["trainer-0.0.0.tar.gz"]})", "package_uris"},
        Row{"module_required", kCluster, R"({"pythonModule": null})", "python_module"},
        Row{"module_not_a_file", kCluster, R"({"pythonModule": "trainer/task.py"})", "python_module"},
        Row{"python_of_the_runtime", kCluster, R"({"runtimeVersion": "2.11", "pythonVersion": "2.7"})",
            "runtime_version"},
        Row{"disk_type", "starting_disks",
            R"({"masterConfig": {"diskConfig": {"bootDiskType": "pd-balanced"}}})",
            "master_config.disk_config.boot_disk_type"},
        Row{"disk_size_low", "starting_disks", R"({"masterConfig": {"diskConfig": {"bootDiskSizeGb": -1}}})",
            "master_config.disk_config.boot_disk_size_gb"},
        Row{"disk_size_high", "starting_disks",
            R"({"masterConfig": {"diskConfig": {"bootDiskSizeGb": 65537}}})",
            "master_config.disk_config.boot_disk_size_gb"},
        Row{"network_number", "api_network_and_key",
            R"({"network": "projects/my-project/global/networks/myVPC"})", "network"},
        Row{"network_name", "api_network_and_key", R"({"network": "projects/12345/global/networks/my VPC"})",
            "network"},
        Row{"key_form", "api_network_and_key", R"({"encryptionConfig": {"kmsKeyName": "K"}})",
            "encryption_config.kms_key_name"},
        Row{"key_region", "api_network_and_key", R"({"region": "us-east1"})",
            "encryption_config.kms_key_name"},
        Row{"key_required", "api_network_and_key", R"({"encryptionConfig": {"kmsKeyName": null}})",
            "encryption_config.kms_key_name"},
        Row{"account", "api_network_and_key", R"({"serviceAccount": "me"})", "service_account"}),
    RowName);

constexpr char kCommand[] = "containers_command_and_args";
INSTANTIATE_TEST_SUITE_P(
    Containers, Restrictions,
    testing::Values(
        Row{"runtime_version", "containers_flags", R"({"runtimeVersion": "2.1"})", "runtime_version",
            "Only one of master_config.image_uri and runtime_version should be set."},
        Row{"command_and_args", kCommand, R"({"args": ["--x"]})", "master_config.container_command"},
        Row{"args_and_args", kCommand, R"({"args": ["--x"], "masterConfig": {"containerCommand": null}})",
            "master_config.container_args"},
        Row{"workers_args_and_args", "containers_flags", R"({"workerConfig": {"containerArgs": ["x"]}})",
            "worker_config.container_args"},
        Row{"command_without_image", "starting_flags",
            R"({"args": null, "masterConfig": {"containerCommand": ["python3"]}})",
            "master_config.container_command", "It cannot be set if custom container image is not provided."},
        Row{"args_without_image", "starting_flags",
            R"({"args": null, "evaluatorConfig": {"containerArgs": ["x"]}})",
            "evaluator_config.container_args"},
        Row{"image_form", "containers_flags",
            R"({"masterConfig": {"imageUri": "https://gcr.io/my-project/mnist"}})",
            "master_config.image_uri"},
        Row{"image_case", "containers_distributed",
            R"({"evaluatorConfig": {"imageUri": "gcr.io/my-project/D"}})", "evaluator_config.image_uri"},
        Row{"packages_want_a_module", "prebuilt_pytorch", R"({"pythonModule": null})", "python_module"}),
    RowName);

constexpr char kGrid[] = "tuning_grid";
#define PARAM(text) R"({"hyperparameters": {"params": [{"parameterName": "x", )" text "}]}}"
INSTANTIATE_TEST_SUITE_P(
    Tuning, Restrictions,
    testing::Values(
        Row{"no_params", kGrid, R"({"hyperparameters": {"params": null, "resumePreviousJobId": null}})",
            "hyperparameters.params"},
        Row{"grid_of_doubles", kGrid, PARAM(R"("type": "DOUBLE", "minValue": 1, "maxValue": 2)"),
            "hyperparameters.params[0].type"},
        Row{"type", kGrid, PARAM(R"("maxValue": 2)"), "hyperparameters.params[0].type"},
        Row{"unspecified_type", kGrid, PARAM(R"("type": "PARAMETER_TYPE_UNSPECIFIED")"),
            "hyperparameters.params[0].type"},
        Row{"whole_bounds", kGrid, PARAM(R"("type": "INTEGER", "minValue": 0.5, "maxValue": 2)"),
            "hyperparameters.params[0].min_value"},
        Row{"bounds", kGrid, PARAM(R"("type": "INTEGER")"), "hyperparameters.params[0].max_value"},
        Row{"crossed", kGrid, PARAM(R"("type": "INTEGER", "minValue": 3, "maxValue": 2)"),
            "hyperparameters.params[0].min_value"},
        Row{"log_of_zero", kGrid, PARAM(R"("type": "INTEGER", "maxValue": 2, "scaleType": "UNIT_LOG_SCALE")"),
            "hyperparameters.params[0].min_value"},
        Row{"discrete_log", kGrid,
            PARAM(R"("type": "DISCRETE", "discreteValues": [-1, 2], "scaleType": "UNIT_REVERSE_LOG_SCALE")"),
            "hyperparameters.params[0].discrete_values"},
        Row{"discrete_empty", kGrid, PARAM(R"("type": "DISCRETE")"),
            "hyperparameters.params[0].discrete_values"},
        Row{"discrete_twice", kGrid, PARAM(R"("type": "DISCRETE", "discreteValues": [2, 2])"),
            "hyperparameters.params[0].discrete_values"},
        Row{"categorical_empty", kGrid, PARAM(R"("type": "CATEGORICAL")"),
            "hyperparameters.params[0].categorical_values"},
        Row{"categorical_bound", kGrid,
            PARAM(R"("type": "CATEGORICAL", "categoricalValues": ["a"], "minValue": 1)"),
            "hyperparameters.params[0].min_value"},
        Row{"categorical_scale", kGrid,
            PARAM(R"("type": "CATEGORICAL", "categoricalValues": ["a"], "scaleType": "UNIT_LOG_SCALE")"),
            "hyperparameters.params[0].scale_type"},
        Row{"categorical_nul", kGrid, PARAM(R"("type": "CATEGORICAL", "categoricalValues": ["a\u0000"])"),
            "hyperparameters.params[0].categorical_values"},
        Row{"name", kGrid, R"({"hyperparameters": {"params": [{"type": "INTEGER", "maxValue": 2}]}})",
            "hyperparameters.params[0].parameter_name"},
        Row{"name_of_a_flag", kGrid,
            R"({"hyperparameters": {"params": [{"parameterName": "a b", "type": "INTEGER", "maxValue": 2}]}})",
            "hyperparameters.params[0].parameter_name"},
        Row{"unique_names", kGrid,
            R"({"hyperparameters": {"params": [{"parameterName": "a", "type": "INTEGER", "maxValue": 2},
                                               {"parameterName": "a", "type": "INTEGER", "maxValue": 2}]}})",
            "hyperparameters.params[1].parameter_name"},
        Row{"negative_trials", kGrid, R"({"hyperparameters": {"maxTrials": -1}})",
            "hyperparameters.max_trials"},
        Row{"negative_parallel", kGrid, R"({"hyperparameters": {"maxParallelTrials": -1}})",
            "hyperparameters.max_parallel_trials"},
        Row{"negative_failed", kGrid, R"({"hyperparameters": {"maxFailedTrials": -1}})",
            "hyperparameters.max_failed_trials"},
        Row{"tag", kGrid, R"({"hyperparameters": {"hyperparameterMetricTag": "a\nb"}})",
            "hyperparameters.hyperparameter_metric_tag"},
        Row{"resumed_job", kGrid, R"({"hyperparameters": {"resumePreviousJobId": "../x"}})",
            "hyperparameters.resume_previous_job_id"}),
    RowName);
#undef PARAM

TEST(ManyValues, AreRefusedBeyondTheirLimits) {
  json::value request = json::parse(ReadGolden("examples", kGrid, "request.json"));
  json::object& input = request.at("trainingInput").as_object();
  json::array& uris = input["packageUris"].emplace_array();
  for (int i = 0; i < 100; ++i) uris.emplace_back("gs://bucket/p" + std::to_string(i) + ".tar.gz");
  EXPECT_TRUE(Create(json::serialize(request)));
  uris.emplace_back("gs://bucket/one-more.tar.gz");
  EXPECT_EQ(Create(json::serialize(request)).error().field, "package_uris");
  uris.resize(1);
  json::object& param = request.at_pointer("/trainingInput/hyperparameters/params/0").as_object();
  param["type"] = "DISCRETE";
  json::array& values = param["discreteValues"].emplace_array();
  for (int i = 0; i < 1000; ++i) values.emplace_back(i);
  EXPECT_TRUE(Create(json::serialize(request)));
  values.emplace_back(1000);
  EXPECT_EQ(Create(json::serialize(request)).error().field, "hyperparameters.params[0].discrete_values");
}

TEST(Size, IsWhatTfConfigCanHold) {
  json::value request = json::parse(ReadGolden("examples", "starting_flags", "request.json"));
  json::array& uris = request.at("trainingInput").as_object()["packageUris"].emplace_array();
  for (int i = 0; i < 100; ++i)
    uris.emplace_back("gs://bucket/" + std::string(1000, 'p') + std::to_string(i));
  EXPECT_TRUE(Create(json::serialize(request)));
  json::array& args = request.at("trainingInput").as_object()["args"].emplace_array();
  args.emplace_back(std::string(40'000, 'x'));
  const auto made = Create(json::serialize(request));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().field, "job.training_input");
  EXPECT_TRUE(made.error().message.starts_with("The job is too large: TF_CONFIG")) << made.error().message;
}

}  // namespace
}  // namespace trainyard::golden
