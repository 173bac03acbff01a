#include "rules/jobs/prepare.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace trainyard::jobs {
namespace {

struct Row {
  const char* name;
  const char* input;
  std::vector<std::string> notes;
  bool containers = true;  ///< images run as such
};
class NotesTable : public testing::TestWithParam<Row> {};

TEST_P(NotesTable, SaysWhatHasNoEffect) {
  ml::v1::TrainingInput input;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(GetParam().input, &input));
  RoleImages containers;
  if (GetParam().containers) containers = NamedImages(input);
  EXPECT_THAT(Notes(input, containers), testing::ElementsAreArray(GetParam().notes));
}

INSTANTIATE_TEST_SUITE_P(
    Fields, NotesTable,
    testing::Values(
        Row{"none",
            "region: 'us-central1' scale_tier: CUSTOM master_type: 'n1-standard-4' job_dir: 'gs://b/o'",
            {}},
        Row{"type_beside_basic",
            "scale_tier: BASIC master_type: 'n1-standard-4'",
            {"master_type n1-standard-4 has no effect with scale_tier BASIC."}},
        Row{"disk",
            "master_config { disk_config { boot_disk_size_gb: 200 } }",
            {"master_config.disk_config is kept and shown, but has no effect on this server."}},
        Row{"config_of_nobody",
            "worker_config { image_uri: 'i' disk_config { boot_disk_size_gb: 200 } }",
            {"worker_config has no effect: the job has no such replicas."}},
        Row{"config_of_a_tier", "scale_tier: STANDARD_1 worker_config { image_uri: 'i' }", {}},
        Row{"python_of_image",
            "master_config { image_uri: 'i' } python_version: '3.7'",
            {"python_version 3.7 has no effect with master_config.image_uri: the image brings its own "
             "Python."}},
        Row{"python_of_package",
            "master_config { image_uri: 'i' } python_version: '3.7' python_module: 't'",
            {},
            false},
        Row{"disk_of_container",
            "master_config { image_uri: 'i' disk_config { boot_disk_size_gb: 200 boot_disk_type: 'pd-ssd' } "
            "}",
            {"master_config.disk_config.boot_disk_type is kept and shown, but has no effect on this "
             "server."}},
        Row{"disk_of_image_runtime",
            "master_config { image_uri: 'i' disk_config { boot_disk_size_gb: 200 } } python_module: 't'",
            {"master_config.disk_config is kept and shown, but has no effect on this server."},
            false},
        Row{"package_beside_command",
            "python_module: 't' master_config { image_uri: 'i' container_command: 'c' container_args: 'a' }",
            {"package_uris and python_module have no effect on replicas whose "
             "master_config.container_command says what to run."}},
        Row{"package_beside_args",
            "python_module: 't' scale_tier: CUSTOM worker_type: 'n1-standard-4' worker_count: 1 "
            "master_type: 'n1-standard-4' worker_config { image_uri: 'i' container_args: 'a' }",
            {"package_uris and python_module have no effect on replicas whose worker_config.container_args "
             "says what to run."}},
        Row{"tpu_of_container",
            "scale_tier: CUSTOM master_type: 'n1-standard-4' worker_type: 'cloud_tpu' worker_count: 1 "
            "master_config { image_uri: 'i' } worker_config { image_uri: 'w' tpu_tf_version: '2.2' }",
            {"worker_config.image_uri w is not run: the TPU is used by the master's program, with what its "
             "image brings.",
             "worker_config.tpu_tf_version 2.2 changes nothing here: the TPU is driven by the TensorFlow of "
             "the master's image."}},
        Row{"basic_tpu_of_container",
            "scale_tier: BASIC_TPU master_config { image_uri: 'i' } "
            "worker_config { image_uri: 'i' tpu_tf_version: '2.2' }",
            {"worker_config.tpu_tf_version 2.2 changes nothing here: the TPU is driven by the TensorFlow of "
             "the master's image."}},
        Row{"program_of_a_tpu",
            "scale_tier: BASIC_TPU worker_config { args: '--x' env { name: 'A' } package_uris: 'gs://b/o' }",
            {"worker_config.args has no effect: a cloud_tpu worker runs no program.",
             "worker_config.env has no effect: a cloud_tpu worker runs no program.",
             "worker_config.package_uris has no effect: a cloud_tpu worker runs no program."}},
        Row{"tpu_worker_image_beside_a_package",
            "python_module: 't' runtime_version: '2.2' scale_tier: BASIC_TPU "
            "worker_config { image_uri: 'w' tpu_tf_version: '2.2' }",
            {"worker_config.image_uri w is not run: the TPU is used by the master's program, with what its "
             "runtime version brings.",
             "worker_config.tpu_tf_version 2.2 changes nothing here: the TPU is driven by the TensorFlow of "
             "the master's runtime version."}},
        Row{"python", "runtime_version: '2.11' python_version: '3.7'", {}},
        Row{"chief",
            "use_chief_in_tf_config: true",
            {"use_chief_in_tf_config has no effect without a custom container."}},
        Row{"chief_of_image", "use_chief_in_tf_config: true master_config { image_uri: 'i' }", {}},
        Row{"network",
            "network: 'projects/1/global/networks/n'",
            {"network projects/1/global/networks/n is kept and shown, but has no effect on this server."}},
        Row{"key",
            "encryption_config { kms_key_name: 'k' }",
            {"encryption_config k is kept and shown, but has no effect on this server."}},
        Row{"parallel",
            "hyperparameters { max_trials: 2 max_parallel_trials: 3 }",
            {"hyperparameters: max_parallel_trials is more than max_trials; no more than 2 trials run at the "
             "same time."}},
        Row{"parallel_default", "hyperparameters { max_parallel_trials: 1 }", {}},
        Row{"values",
            "hyperparameters { params { parameter_name: 'x' type: DISCRETE discrete_values: 1 min_value: 1 "
            "max_value: 2 "
            "categorical_values: 'a' } params { parameter_name: 'y' type: DOUBLE max_value: 1 "
            "discrete_values: 1 } }",
            {"hyperparameters: min_value of x has no effect for the type DISCRETE.",
             "hyperparameters: max_value of x has no effect for the type DISCRETE.",
             "hyperparameters: categorical_values of x has no effect for the type DISCRETE.",
             "hyperparameters: discrete_values of y has no effect for the type DOUBLE."}},
        Row{"order",
            "hyperparameters { params { parameter_name: 'x' type: DISCRETE discrete_values: [32, 8, 16] } "
            "params { parameter_name: 'y' type: DISCRETE discrete_values: [8, 16] } }",
            {"hyperparameters: discrete_values of x were out of order; the job has them in increasing "
             "order."}}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace trainyard::jobs
