#include "rules/vertex/error_fields.h"

#include <gtest/gtest.h>

namespace trainyard::vertex::error_fields_test {
namespace {

/// A package, and a container.
aip::CustomJobSpec Spec() {
  aip::CustomJobSpec spec;
  spec.add_worker_pool_specs()->mutable_python_package_spec();
  spec.add_worker_pool_specs()->mutable_container_spec();
  return spec;
}

struct Row {
  const char* ml;
  const char* vertex;
};

class Fields : public ::testing::TestWithParam<Row> {};

TEST_P(Fields, AreThoseOfTheCustomJob) {
  EXPECT_EQ(CustomJobField(Spec(), GetParam().ml), GetParam().vertex);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Fields,
    ::testing::Values(
        Row{"master_type", "job_spec.worker_pool_specs[0].machine_spec.machine_type"},
        Row{"parameter_server_count", "job_spec.worker_pool_specs[2].replica_count"},
        Row{"worker_config.accelerator_config.type",
            "job_spec.worker_pool_specs[1].machine_spec.accelerator_type"},
        Row{"evaluator_config.image_uri", "job_spec.worker_pool_specs[3].container_spec.image_uri"},
        Row{"master_config.image_uri",
            "job_spec.worker_pool_specs[0].python_package_spec.executor_image_uri"},
        Row{"master_config.package_uris", "job_spec.worker_pool_specs[0].python_package_spec.package_uris"},
        Row{"runtime_version", "job_spec.worker_pool_specs[0].python_package_spec.executor_image_uri"},
        Row{"env[2].name", "job_spec.worker_pool_specs[0].python_package_spec.env[2].name"},
        Row{"worker_config.env[0].value", "job_spec.worker_pool_specs[1].container_spec.env[0].value"},
        Row{"worker_config.args", "job_spec.worker_pool_specs[1].python_package_spec.args"},
        Row{"job.training_input", "job_spec"},
        Row{"args[3]", "job_spec.worker_pool_specs[0].python_package_spec.args[3]"},
        Row{"job.labels", "labels"},
        Row{"training_input.job_dir", "job_spec.base_output_directory.output_uri_prefix"},
        Row{"region", "region"}, Row{"", ""}));

TEST(InCustomJob, ListsTheFoundErrors) {
  const Error one = InCustomJob(Spec(), InvalidArgument("worker_type", "No such machine type."));
  EXPECT_EQ(one.code, Code::kInvalidArgument);
  EXPECT_EQ(
      one.message,
      "List of found errors:\t1.Field: job_spec.worker_pool_specs[1].machine_spec.machine_type; Message: "
      "No such machine type.\t");
  EXPECT_EQ(one.field, "");
  Error many = InvalidArgument("", "both");
  many.violations = {{"labels", "a"}, {"master_count", "b"}};
  EXPECT_EQ(InCustomJob(Spec(), many).message,
            "List of found errors:\t1.Field: labels; Message: a\t2.Field: "
            "job_spec.worker_pool_specs[0].replica_count; Message: b\t");
}

TEST(InCustomJob, KeepsWhatIsNotAboutAField) {
  const Error busy = Unavailable("The disk is full.");
  EXPECT_EQ(InCustomJob(Spec(), busy), busy);
  const Error bad = InvalidArgument("", "Invalid JSON");
  EXPECT_EQ(InCustomJob(Spec(), bad), bad);
  const Error missing =
      InCustomJob(Spec(), FailedPrecondition("No GPUs.", "master_config.accelerator_config"));
  EXPECT_EQ(missing.message, "No GPUs.");
  EXPECT_EQ(missing.field, "job_spec.worker_pool_specs[0].machine_spec.accelerator_type");
}

}  // namespace
}  // namespace trainyard::vertex::error_fields_test
