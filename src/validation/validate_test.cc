#include "validation/validate.h"
#include "tuning/space.h"
#include "validation/rules.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <set>

namespace trainyard::jobs {
namespace {

using ml::v1::Job;
using ml::v1::TrainingInput;

constexpr char kPackage[] =
    "region: 'us-central1' package_uris: 'gs://bucket/trainer-0.0.0.tar.gz' python_module: 'trainer.task' ";
constexpr char kContainer[] = "region: 'us-central1' master_config { image_uri: 'gcr.io/p/i' } ";
constexpr char kCustom[] =
    "region: 'us-central1' package_uris: 'gs://bucket/t.tar.gz' python_module: 't' scale_tier: CUSTOM "
    "master_type: 'n1-standard-4' ";

ValidationContext Everything() {
  return {.containers = true, .tuning = true, .gpus = true, .tpus = true, .runtimes = {}};
}

Job Make(const std::string& base, const std::string& input) {
  Job job;
  job.set_job_id("census_1");
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(base, job.mutable_training_input())) << base;
  EXPECT_TRUE(google::protobuf::TextFormat::MergeFromString(input, job.mutable_training_input())) << input;
  return job;
}

/// "" if valid, else "field: message".
std::string Verdict(const Job& job, const ValidationContext& context) {
  const Status status = Validate(job, context);
  if (status) return "";
  EXPECT_EQ(status.error().code, Code::kInvalidArgument);
  return status.error().field + ": " + status.error().message;
}

struct Row {
  const char* name;
  const char* base;
  const char* input;
  const char* verdict;  ///< its beginning; "" if valid
};
class Table : public testing::TestWithParam<Row> {};

TEST_P(Table, GivesTheFieldAndTheReason) {
  const std::string verdict = Verdict(Make(GetParam().base, GetParam().input), Everything());
  EXPECT_EQ(std::string(GetParam().verdict).empty(), verdict.empty()) << verdict;
  EXPECT_TRUE(verdict.starts_with(GetParam().verdict)) << verdict;
}

std::string RowName(const testing::TestParamInfo<Row>& row) { return row.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Machines, Table,
    testing::Values(
        Row{"plain", kPackage, "", ""}, Row{"basic", kPackage, "scale_tier: BASIC", ""},
        Row{"premium", kPackage, "scale_tier: PREMIUM_1", ""},
        Row{"count_with_basic", kPackage, "worker_count: 2",
            "worker_count: This value can only be used when scale_tier is set to CUSTOM."},
        Row{"custom_no_master", kPackage, "scale_tier: CUSTOM", "master_type: "},
        Row{"unknown_type", kPackage, "scale_tier: CUSTOM master_type: 'n1-standard-5'",
            "master_type: The specified machine type for master is not supported: n1-standard-5"},
        Row{"count_no_type", kCustom, "worker_count: 1", "worker_type: "},
        Row{"type_no_count", kCustom, "worker_type: 'n1-standard-4'", "worker_count: "},
        Row{"mixed", kCustom, "worker_count: 1 worker_type: 'standard'",
            "worker_type: The machine types must be of one category"},
        Row{"mixed_evaluator", kCustom, "evaluator_count: 1 evaluator_type: 'large_model'",
            "evaluator_type: "},
        Row{"legacy_all", kPackage,
            "scale_tier: CUSTOM master_type: 'standard' worker_type: 'large_model' worker_count: 1", ""},
        Row{"master_tpu", kPackage, "scale_tier: CUSTOM master_type: 'cloud_tpu'",
            "master_type: The specified machine type for masteris not supported in TPU training jobs: "
            "cloud_tpu"},
        Row{"ps_tpu", kCustom, "parameter_server_type: 'cloud_tpu' parameter_server_count: 1",
            "parameter_server_type: The specified machine type for parameter_serveris not supported"},
        Row{"no_region", "", "package_uris: 'gs://bucket/t.tgz' python_module: 't'",
            "region: This field is required."},
        Row{"unknown_region", "", "package_uris: 'gs://bucket/t.tgz' python_module: 't' region: 'nowhere-1'",
            "region: "},
        Row{"gpu", kCustom, "master_config { accelerator_config { type: NVIDIA_TESLA_K80 count: 4 } }", ""},
        Row{"gpu_three", kCustom, "master_config { accelerator_config { type: NVIDIA_TESLA_K80 count: 3 } }",
            "master_config.accelerator_config.count: The machine type n1-standard-4 cannot have 3 "
            "NVIDIA_TESLA_K80 accelerators. "
            "Allowed numbers: 1, 2, 4, 8."},
        Row{"gpu_a100", kCustom, "master_config { accelerator_config { type: NVIDIA_TESLA_A100 count: 1 } }",
            "master_config.accelerator_config.type: "},
        Row{"gpu_no_type", kCustom, "master_config { accelerator_config { count: 1 } }",
            "master_config.accelerator_config.type: "},
        Row{"gpu_no_count", kCustom, "master_config { accelerator_config { type: NVIDIA_TESLA_K80 } }",
            "master_config.accelerator_config.count: "},
        Row{"gpu_none", kCustom, "master_config { accelerator_config { } }", ""},
        Row{"gpu_negative", kCustom,
            "master_config { accelerator_config { type: NVIDIA_TESLA_K80 count: -1 } }",
            "master_config.accelerator_config.count: "},
        Row{"gpu_legacy", kPackage,
            "scale_tier: CUSTOM master_type: 'standard' master_config { accelerator_config { type: "
            "NVIDIA_TESLA_K80 count: 1 } }",
            "master_config.accelerator_config: Accelerators can only be attached to Compute Engine machine "
            "types"},
        Row{"gpu_basic", kPackage, "master_config { accelerator_config { type: NVIDIA_TESLA_K80 count: 1 } }",
            "master_config.accelerator_config: This value can only be used when scale_tier is set to "
            "CUSTOM."},
        Row{"gpu_no_replica", kCustom,
            "worker_config { accelerator_config { type: NVIDIA_TESLA_K80 count: 1 } }",
            "worker_config.accelerator_config: "},
        Row{"tpu_on_master", kCustom, "master_config { accelerator_config { type: TPU_V2 count: 8 } }",
            "master_config.accelerator_config.type: "},
        Row{"basic_gpu", kPackage, "scale_tier: BASIC_GPU", ""},
        Row{"basic_gpu_region", "",
            "scale_tier: BASIC_GPU package_uris: 'gs://bucket/t.tgz' python_module: 't' region: 'us-west3'",
            "region: NVIDIA_TESLA_K80 accelerators are not available in region us-west3."},
        Row{"disk", kPackage,
            "master_config { disk_config { boot_disk_type: 'pd-standard' boot_disk_size_gb: 500 } }", ""},
        Row{"disk_type", kPackage, "master_config { disk_config { boot_disk_type: 'floppy' } }",
            "master_config.disk_config.boot_disk_type: "},
        Row{"disk_size", kPackage, "worker_config { disk_config { boot_disk_size_gb: -1 } }",
            "worker_config.disk_config.boot_disk_size_gb: "}),
    RowName);

INSTANTIATE_TEST_SUITE_P(
    Tpus, Table,
    testing::Values(
        Row{"basic", kPackage, "scale_tier: BASIC_TPU runtime_version: '2.1'", ""},
        Row{"basic_region", "",
            "scale_tier: BASIC_TPU package_uris: 'gs://bucket/t.tgz' python_module: 't' region: 'us-east1'",
            "region: TPU_V2"},
        Row{"v3", kCustom,
            "worker_type: 'cloud_tpu' worker_count: 1 worker_config { accelerator_config { type: TPU_V3 "
            "count: 8 } }",
            ""},
        Row{"legacy", kPackage,
            "scale_tier: CUSTOM master_type: 'large_model' worker_type: 'cloud_tpu' worker_count: 1", ""},
        Row{"legacy_v3", kPackage,
            "scale_tier: CUSTOM master_type: 'large_model' worker_type: 'cloud_tpu' worker_count: 1 "
            "worker_config { accelerator_config { "
            "type: TPU_V3 count: 8 } }",
            "worker_config.accelerator_config: "},
        Row{"four_cores", kCustom,
            "worker_type: 'cloud_tpu' worker_count: 1 worker_config { accelerator_config { type: TPU_V2 "
            "count: 4 } }",
            "worker_config.accelerator_config.count: "},
        Row{"pod", kCustom,
            "worker_type: 'cloud_tpu' worker_count: 1 worker_config { accelerator_config { type: TPU_V2_POD "
            "count: 32 } }",
            "worker_config.accelerator_config.type: "},
        Row{"gpu_on_tpu", kCustom,
            "worker_type: 'cloud_tpu' worker_count: 1 worker_config { accelerator_config { type: "
            "NVIDIA_TESLA_K80 count: 8 } }",
            "worker_config.accelerator_config.type: "},
        Row{"two_workers", kCustom, "worker_type: 'cloud_tpu' worker_count: 2", "worker_count: "},
        Row{"ps", kCustom,
            "worker_type: 'cloud_tpu' worker_count: 1 parameter_server_type: 'n1-standard-4' "
            "parameter_server_count: 1",
            "parameter_server_count: "},
        Row{"runtime", kCustom, "worker_type: 'cloud_tpu' worker_count: 1 runtime_version: '2.11'",
            "runtime_version: "},
        Row{"runtime_first_without", kCustom,
            "worker_type: 'cloud_tpu' worker_count: 1 runtime_version: '2.3'", "runtime_version: "},
        Row{"runtime_that_is_replaced", kCustom,
            "worker_type: 'cloud_tpu' worker_count: 1 runtime_version: '1.9'", ""},
        Row{"container", kContainer,
            "scale_tier: CUSTOM master_type: 'n1-highcpu-16' worker_type: 'cloud_tpu' worker_count: 1 "
            "worker_config { image_uri: 'gcr.io/p/i' "
            "tpu_tf_version: '2.2' accelerator_config { type: TPU_V2 count: 8 } }",
            ""},
        Row{"container_no_version", kContainer, "scale_tier: BASIC_TPU", "worker_config.tpu_tf_version: "},
        Row{"container_bad_version", kContainer,
            "scale_tier: BASIC_TPU worker_config { tpu_tf_version: '2.11' }",
            "worker_config.tpu_tf_version: "},
        Row{"version_without_tpu", kContainer, "worker_config { tpu_tf_version: '2.2' }",
            "worker_config.tpu_tf_version: "},
        Row{"version_without_container", kPackage,
            "scale_tier: BASIC_TPU worker_config { tpu_tf_version: '2.2' }",
            "worker_config.tpu_tf_version: "}),
    RowName);

INSTANTIATE_TEST_SUITE_P(
    Program, Table,
    testing::Values(
        Row{"no_package", "", "region: 'us-central1' python_module: 't'", "package_uris: "},
        Row{"no_module", "", "region: 'us-central1' package_uris: 'gs://bucket/t.tgz'", "python_module: "},
        Row{"package_not_gs", kPackage, "package_uris: '/tmp/x.tar.gz'",
            "package_uris: The provided GCS path '/tmp/x.tar.gz' is not valid"},
        Row{"package_bucket", kPackage, "package_uris: 'gs://bucket'", "package_uris: "},
        Row{"package_folder", kPackage, "package_uris: 'gs://bucket/x/'", "package_uris: "},
        Row{"module_path", kPackage, "python_module: 'trainer/task.py'", "python_module: "},
        Row{"module_option", kPackage, "python_module: '-c'", "python_module: "},
        Row{"module_dot", kPackage, "python_module: 'a.'", "python_module: "},
        Row{"module_dots", kPackage, "python_module: 'a..b'", "python_module: "},
        Row{"args", kPackage, "args: '--x' args: ''", ""},
        Row{"args_nul", kPackage, "args: 'a\\000b'", "args: "}, Row{"container", kContainer, "", ""},
        Row{"container_args", kContainer, "args: '--x=1'", ""},
        Row{"container_package", kContainer, "package_uris: 'gs://bucket/t.tgz' python_module: 't'", ""},
        Row{"container_package_no_module", kContainer, "package_uris: 'gs://bucket/t.tgz'",
            "python_module: "},
        Row{"container_runtime", kContainer, "runtime_version: '2.1'", "runtime_version: Only one of"},
        Row{"container_command", kContainer, "master_config { container_command: 'a' container_args: 'b' }",
            ""},
        Row{"command_and_args", kContainer, "master_config { container_command: 'a' } args: 'b'",
            "master_config.container_command: "},
        Row{"worker_args_and_args", kContainer, "worker_config { container_args: 'a' } args: 'b'",
            "worker_config.container_args: "},
        Row{"command_no_image", kPackage, "master_config { container_command: 'a' }",
            "master_config.container_command: It cannot be set if custom container image is not provided."},
        Row{"args_no_image", kPackage, "worker_config { container_args: 'a' }",
            "worker_config.container_args: "},
        Row{"runtime", kPackage, "runtime_version: '2.11' python_version: '3.7'", ""},
        Row{"runtime_old_python", kPackage, "runtime_version: '1.4' python_version: '3.5'", ""},
        Row{"runtime_27", kPackage, "runtime_version: '1.15' python_version: '2.7'", ""},
        Row{"runtime_27_late", kPackage, "runtime_version: '2.1' python_version: '2.7'",
            "runtime_version: The specified runtime version '2.1' with the Python version '2.7' is not "
            "supported or is deprecated.  Please specify "
            "a different runtime version."},
        Row{"runtime_35_late", kPackage, "runtime_version: '1.15' python_version: '3.5'",
            "runtime_version: "},
        Row{"runtime_37_early", kPackage, "runtime_version: '1.14' python_version: '3.7'",
            "runtime_version: "},
        Row{"runtime_form", kPackage, "runtime_version: 'latest'", "runtime_version: "},
        Row{"runtime_patch", kPackage, "runtime_version: '2.1.0'", "runtime_version: "},
        Row{"job_dir", kPackage, "job_dir: 'gs://bucket/out/path'", ""},
        Row{"job_dir_bucket", kPackage, "job_dir: 'gs://bucket'", ""},
        Row{"job_dir_slash", kPackage, "job_dir: 'gs://bucket/out/'", ""},
        Row{"job_dir_local", kPackage, "job_dir: '/tmp/out'", "job_dir: "},
        Row{"job_dir_http", kPackage, "job_dir: 'https://bucket/out'", "job_dir: "},
        Row{"job_dir_empty_bucket", kPackage, "job_dir: 'gs:///out'", "job_dir: "}),
    RowName);

INSTANTIATE_TEST_SUITE_P(
    Variables, Table,
    testing::Values(
        Row{"env", kPackage, "env { name: 'LEVEL' value: '1' } env { name: '_x9' }", ""},
        Row{"env_of_openmp", kPackage, "env { name: 'OMP_NUM_THREADS' value: '1' }", ""},
        Row{"env_no_name", kPackage, "env { value: '1' }", "env[0].name: "},
        Row{"env_name_digit", kPackage, "env { name: 'A' } env { name: '9A' }", "env[1].name: "},
        Row{"env_name_dash", kPackage, "env { name: 'A-B' }", "env[0].name: "},
        Row{"env_reserved", kPackage, "env { name: 'TF_CONFIG' value: '{}' }",
            "env[0].name: The variable TF_CONFIG is set by the service."},
        Row{"env_reserved_prefix", kPackage, "env { name: 'CLOUD_ML_X' }", "env[0].name: "},
        Row{"env_twice", kPackage, "env { name: 'A' } env { name: 'A' secret: true value: 'hunter2' }",
            "env[1].name: The variable A is given twice."},
        Row{"env_nul", kPackage, "env { name: 'A' value: 'a\\000b' }",
            "env[0].value: The value of A must not contain a NUL character."},
        Row{"secret", kPackage, "env { name: 'A' value: 'four' secret: true }", ""},
        Row{"secret_no_value", kPackage, "env { name: 'A' secret: true }",
            "env[0].value: The secret A has no value. Secrets are not kept with the job: each request that "
            "creates one gives their values."},
        Row{"secret_short", kPackage, "env { name: 'A' value: 'abc\\nde' secret: true }",
            "env[0].value: The value of the secret A is too short to be hidden in a log: one of its lines "
            "must "
            "have at least 4 characters."}),
    RowName);

TEST(Variables, HaveLimitsOfNumberAndBytes) {
  ml::v1::Job job;
  ml::v1::TrainingInput& input = *job.mutable_training_input();
  const auto refused = [&job] { return rules::Variables(job, {}); };
  for (int i = 0; i < 100; ++i) input.add_env()->set_name("A" + std::to_string(i));
  EXPECT_TRUE(refused());
  input.add_env()->set_name("B");
  EXPECT_EQ(refused().error(), InvalidArgument("env", "A job can have at most 100 variables."));
  input.clear_env();
  input.add_env()->set_name("A");
  input.mutable_env(0)->set_value(std::string((32 << 10) - 1, 'x'));
  EXPECT_TRUE(refused());
  input.mutable_env(0)->mutable_value()->push_back('x');
  EXPECT_EQ(refused().error(),
            InvalidArgument("env",
                            "The names and values of a job's variables can have at most 32768 bytes "
                            "together; these have 32769."));
}

INSTANTIATE_TEST_SUITE_P(
    Settings, Table,
    testing::Values(
        Row{"wait_least", kPackage, "scheduling { max_wait_time { seconds: 1800 } }", ""},
        Row{"wait_short", kPackage, "scheduling { max_wait_time { seconds: 1799 nanos: 999999999 } }",
            "scheduling.max_wait_time: "},
        Row{"wait_zero", kPackage, "scheduling { max_wait_time { } }", "scheduling.max_wait_time: "},
        Row{"running", kPackage, "scheduling { max_running_time { nanos: 1 } }", ""},
        Row{"running_zero", kPackage, "scheduling { max_running_time { } }", "scheduling.max_running_time: "},
        Row{"running_negative", kPackage, "scheduling { max_running_time { seconds: -5 } }",
            "scheduling.max_running_time: "},
        Row{"priority", kPackage, "scheduling { priority: 1000 }", ""},
        Row{"priority_high", kPackage, "scheduling { priority: 1001 }", "scheduling.priority: "},
        Row{"priority_low", kPackage, "scheduling { priority: -1 }", "scheduling.priority: "},
        Row{"network", kPackage, "network: 'projects/12345/global/networks/myVPC'", ""},
        Row{"network_id", kPackage, "network: 'projects/my-project/global/networks/myVPC'", "network: "},
        Row{"network_short", kPackage, "network: 'myVPC'", "network: "},
        Row{"network_long", kPackage, "network: 'projects/1/global/networks/a/b'", "network: "},
        Row{"account", kPackage, "service_account: 'a@p.iam.gserviceaccount.com'", ""},
        Row{"account_bad", kPackage, "service_account: 'a'", "service_account: "},
        Row{"account_at", kPackage, "service_account: 'a@b@c'", "service_account: "},
        Row{"key", kPackage,
            "encryption_config { kms_key_name: 'projects/p/locations/us-central1/keyRings/r/cryptoKeys/k' }",
            ""},
        Row{"key_form", kPackage, "encryption_config { kms_key_name: 'k' }",
            "encryption_config.kms_key_name: "},
        Row{"key_empty", kPackage, "encryption_config { }", "encryption_config.kms_key_name: "},
        Row{"key_region", kPackage,
            "encryption_config { kms_key_name: 'projects/p/locations/us-east1/keyRings/r/cryptoKeys/k' }",
            "encryption_config.kms_key_name: The key must be in the region of the job, us-central1, not in "
            "us-east1."}),
    RowName);

const std::string& TooManyCategories() {
  static const std::string text = [] {
    std::string values = "hyperparameters { params { parameter_name: 'x' type: CATEGORICAL ";
    for (int i = 0; i <= tuning::kValuesMax; ++i)
      values += "categorical_values: '" + std::to_string(i) + "' ";
    return values + "} }";
  }();
  return text;
}

#define PARAM(text) "hyperparameters { params { parameter_name: 'x' " text " } }"
INSTANTIATE_TEST_SUITE_P(
    Tuning, Table,
    testing::Values(
        Row{"double_", kPackage, PARAM("type: DOUBLE max_value: 1"), ""},
        Row{"empty", kPackage, "hyperparameters { }", "hyperparameters.params: "},
        Row{"empty_resuming", kPackage, "hyperparameters { resume_previous_job_id: 'a' }", ""},
        Row{"no_name", kPackage, "hyperparameters { params { type: DOUBLE max_value: 1 } }",
            "hyperparameters.params[0].parameter_name: "},
        Row{"twice", kPackage,
            "hyperparameters { params { parameter_name: 'x' type: DOUBLE max_value: 1 } params { "
            "parameter_name: 'x' type: DOUBLE max_value: 1 } }",
            "hyperparameters.params[1].parameter_name: "},
        Row{"no_type", kPackage, PARAM("max_value: 1"), "hyperparameters.params[0].type: "},
        Row{"no_bounds", kPackage, PARAM("type: DOUBLE"), "hyperparameters.params[0].max_value: "},
        Row{"crossed", kPackage, PARAM("type: DOUBLE min_value: 2 max_value: 1"),
            "hyperparameters.params[0].min_value: "},
        Row{"nan", kPackage, PARAM("type: DOUBLE min_value: nan max_value: 1"),
            "hyperparameters.params[0].min_value: "},
        Row{"inf", kPackage, PARAM("type: DOUBLE max_value: inf"), "hyperparameters.params[0].max_value: "},
        Row{"integer", kPackage, PARAM("type: INTEGER min_value: 1 max_value: 5"), ""},
        Row{"integer_half", kPackage, PARAM("type: INTEGER min_value: 1 max_value: 5.5"),
            "hyperparameters.params[0].max_value: "},
        Row{"log", kPackage, PARAM("type: DOUBLE min_value: 0.1 max_value: 1 scale_type: UNIT_LOG_SCALE"),
            ""},
        Row{"log_zero", kPackage, PARAM("type: DOUBLE max_value: 1 scale_type: UNIT_LOG_SCALE"),
            "hyperparameters.params[0].min_value: "},
        Row{"reverse_log_zero", kPackage,
            PARAM("type: INTEGER max_value: 1 scale_type: UNIT_REVERSE_LOG_SCALE"),
            "hyperparameters.params[0].min_value: "},
        Row{"categorical", kPackage,
            PARAM("type: CATEGORICAL categorical_values: 'a' categorical_values: 'b'"), ""},
        Row{"categorical_empty", kPackage, PARAM("type: CATEGORICAL"),
            "hyperparameters.params[0].categorical_values: "},
        Row{"categorical_twice", kPackage,
            PARAM("type: CATEGORICAL categorical_values: 'a' categorical_values: 'a'"),
            "hyperparameters.params[0].categorical_values: "},
        Row{"categorical_many", kPackage, TooManyCategories().c_str(),
            "hyperparameters.params[0].categorical_values: There must not be more than 1000 values."},
        Row{"categorical_bounds", kPackage, PARAM("type: CATEGORICAL categorical_values: 'a' max_value: 1"),
            "hyperparameters.params[0].max_value: "},
        Row{"categorical_scale", kPackage,
            PARAM("type: CATEGORICAL categorical_values: 'a' scale_type: UNIT_LINEAR_SCALE"),
            "hyperparameters.params[0].scale_type: "},
        Row{"discrete", kPackage, PARAM("type: DISCRETE discrete_values: [1, 2, 4] min_value: 99"), ""},
        Row{"discrete_empty", kPackage, PARAM("type: DISCRETE"),
            "hyperparameters.params[0].discrete_values: "},
        Row{"discrete_order", kPackage, PARAM("type: DISCRETE discrete_values: [4, 1, 2]"), ""},
        Row{"discrete_twice", kPackage, PARAM("type: DISCRETE discrete_values: [1, 2, 1]"),
            "hyperparameters.params[0].discrete_values: The values must be distinct."},
        Row{"discrete_log", kPackage,
            PARAM("type: DISCRETE discrete_values: [1, 0] scale_type: UNIT_LOG_SCALE"),
            "hyperparameters.params[0].discrete_values: "},
        Row{"grid_double", kPackage,
            "hyperparameters { algorithm: GRID_SEARCH params { parameter_name: 'x' type: DOUBLE max_value: 1 "
            "} }",
            "hyperparameters.params[0].type: "},
        Row{"trials", kPackage, "hyperparameters { max_trials: -1 }", "hyperparameters.max_trials: "},
        Row{"parallel", kPackage, "hyperparameters { max_parallel_trials: -1 }",
            "hyperparameters.max_parallel_trials: "},
        Row{"failed", kPackage, "hyperparameters { max_failed_trials: -1 }",
            "hyperparameters.max_failed_trials: "},
        Row{"resume", kPackage,
            "hyperparameters { resume_previous_job_id: '1x' params { parameter_name: 'x' type: DOUBLE "
            "max_value: 1 } }",
            "hyperparameters.resume_previous_job_id: "}),
    RowName);
#undef PARAM

TEST(Validate, ChecksTheJobItself) {
  Job job = Make(kPackage, "");
  job.set_job_id("9bad-id");
  EXPECT_EQ(
      Verdict(job, Everything()),
      "job.job_id: A name should start with a letter and contain only letters, numbers and underscores.");
  job = Make(kPackage, "");
  job.mutable_prediction_input();
  EXPECT_TRUE(Verdict(job, Everything()).starts_with("job.prediction_input: ")) << Verdict(job, Everything());
  job = Make(kPackage, "");
  job.clear_training_input();
  EXPECT_EQ(Verdict(job, Everything()), "job.training_input: This field is required.");
}

TEST(Validate, CountsPackagesAndArguments) {
  Job job = Make(kPackage, "");
  while (job.training_input().package_uris_size() < 100)
    job.mutable_training_input()->add_package_uris("gs://bucket/x.tgz");
  EXPECT_EQ(Verdict(job, Everything()), "");
  job.mutable_training_input()->add_package_uris("gs://bucket/x.tgz");
  EXPECT_EQ(Verdict(job, Everything()), "package_uris: The maximum number of package URIs is 100.");
  job = Make(kPackage, "");
  job.mutable_training_input()->add_args(std::string(65536, 'x'));
  EXPECT_EQ(Verdict(job, Everything()), "args: The arguments are too long: 65537 bytes, at most 65536.");
}

struct LabelRow {
  const char* name;
  std::string key;
  std::string value;
  bool ok;
};
class LabelForm : public testing::TestWithParam<LabelRow> {};

TEST_P(LabelForm, FollowsTheRule) {
  Job job;
  (*job.mutable_labels())[GetParam().key] = GetParam().value;
  const Status status = ValidateLabels(job);
  EXPECT_EQ(status.has_value(), GetParam().ok);
  if (!status) EXPECT_EQ(status.error().field, "job.labels");
}

INSTANTIATE_TEST_SUITE_P(
    Rules, LabelForm,
    testing::Values(LabelRow{"plain", "team", "red-1_x", true}, LabelRow{"no_value", "team", "", true},
                    LabelRow{"digit_first", "1team", "", false}, LabelRow{"value_digit", "a", "1", true},
                    LabelRow{"upper", "Team", "", false}, LabelRow{"upper_value", "team", "Red", false},
                    LabelRow{"empty_key", "", "x", false},
                    LabelRow{"umlauts", "\xc3\xa4", "\xc3\xb6\xc3\xbc", true},
                    LabelRow{"long_key", std::string(63, 'k'), "", true},
                    LabelRow{"longer_key", std::string(64, 'k'), "", false},
                    LabelRow{"longer_value", "k", std::string(64, 'v'), false},
                    LabelRow{"space", "a b", "", false}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Validate, CountsLabels) {
  Job job = Make(kPackage, "");
  for (int i = 0; i < 64; ++i) (*job.mutable_labels())["l" + std::to_string(i)] = "";
  EXPECT_EQ(Verdict(job, Everything()), "");
  (*job.mutable_labels())["one_more"] = "";
  EXPECT_EQ(Verdict(job, Everything()), "job.labels: A job cannot have more than 64 labels.");
}

TEST(Validate, KnowsTheRuntimesOfTheInstallation) {
  ValidationContext context = Everything();
  context.runtimes = {{.version = "2.15", .python_versions = {"3.11"}}};
  EXPECT_EQ(Verdict(Make(kPackage, "runtime_version: '2.15' python_version: '3.11'"), context), "");
  EXPECT_EQ(Verdict(Make(kPackage, "runtime_version: '2.15'"), context), "");
  EXPECT_NE(Verdict(Make(kPackage, "runtime_version: '2.15' python_version: '3.7'"), context), "");
  EXPECT_TRUE(Verdict(Make(kPackage, "runtime_version: '1.9'"), context)
                  .starts_with("runtime_version: The specified runtime version '1.9' with the Python version "
                               "'' is not supported"));
}

TEST(Validate, SaysWhichRuntimeVersionsThereAre) {
  ValidationContext context = Everything();
  context.runtime_default = "2.15";
  for (const int minor : {14, 15})
    context.runtimes.push_back(
        {.version = "1." + std::to_string(minor), .python_versions = {minor == 14 ? "3.5" : "3.7", "2.7"}});
  for (int minor = 1; minor <= 11; ++minor)
    context.runtimes.push_back({.version = "2." + std::to_string(minor), .python_versions = {"3.7"}});
  context.runtimes.push_back({.version = "2.15", .python_versions = {"3.11"}});
  context.runtimes.push_back({.version = "pytorch", .python_versions = {"3.11", "3.12"}});
  struct Here {
    const char* input;
    const char* version;
    const char* python;
    const char* hint;
  };
  for (const Here& row :
       {Here{"python_version: '3.7'", "2.15", "3.7",
             "Python 3.7 comes with runtime versions 1.15 to 2.11; runtime version 2.15 comes with Python "
             "3.11."},
        Here{"runtime_version: 'pytorch' python_version: '3.5'", "pytorch", "3.5",
             "Python 3.5 comes with runtime version 1.14; runtime version pytorch comes with Python 3.11 or "
             "3.12."},
        Here{"runtime_version: '2.1' python_version: '3.11'", "2.1", "3.11",
             "Python 3.11 comes with runtime versions 2.15, pytorch; runtime version 2.1 comes with Python "
             "3.7."},
        Here{"runtime_version: '2.1' python_version: '4.2'", "2.1", "4.2",
             "No runtime version comes with Python 4.2; runtime version 2.1 comes with Python 3.7."},
        Here{"runtime_version: '2.12'", "2.12", "", "There are: 1.14 to 2.11, 2.15, pytorch."}}) {
    EXPECT_EQ(Verdict(Make(kPackage, row.input), context),
              "runtime_version: The specified runtime version '" + std::string(row.version) +
                  "' with the Python version '" + row.python +
                  "' is not supported or is deprecated.  Please specify a different runtime version. " +
                  row.hint);
  }
  EXPECT_EQ(Verdict(Make(kPackage, "python_version: '3.11'"), context), "");
}

TEST(Validate, SaysWhatThisInstallationLacks) {
  struct Here {
    const char* base;
    const char* input;
    const char* field;
  };
  for (const Here& row :
       {Here{kContainer, "", "master_config.image_uri"},
        Here{kPackage, "worker_config { image_uri: 'i' }", "worker_config.image_uri"},
        Here{kPackage, "hyperparameters { params { parameter_name: 'x' type: DOUBLE max_value: 1 } }",
             "hyperparameters"},
        Here{kPackage, "scale_tier: BASIC_GPU", "scale_tier"},
        Here{kPackage, "scale_tier: BASIC_TPU", "scale_tier"},
        Here{kPackage, "scale_tier: CUSTOM master_type: 'standard_gpu'", "master_type"},
        Here{kCustom, "master_config { accelerator_config { type: NVIDIA_TESLA_T4 count: 1 } }",
             "master_config.accelerator_config"},
        Here{kCustom, "worker_type: 'cloud_tpu' worker_count: 1", "worker_type"}}) {
    const Job job = Make(row.base, row.input);
    EXPECT_TRUE(Validate(job, Everything())) << row.input;
    const Status status = Validate(job, {});
    ASSERT_FALSE(status) << row.input;
    EXPECT_EQ(status.error().code, Code::kFailedPrecondition);
    EXPECT_EQ(status.error().field, row.field);
  }
  EXPECT_TRUE(Validate(Make(kPackage, "enable_web_access: true"), {})) << "every server has shells";
  EXPECT_EQ(Validate(Make(kContainer, ""), {.no_containers = "Install crun."}).error().message,
            "This server does not run containers. Install crun. A Python package (package_uris and "
            "python_module) runs without an image.");
}

TEST(Rules, HaveNamesAndSources) {
  std::set<std::string_view> names;
  for (const ValidationRule& rule : ValidationRules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    EXPECT_FALSE(rule.source.empty()) << rule.name;
  }
}

}  // namespace
}  // namespace trainyard::jobs
