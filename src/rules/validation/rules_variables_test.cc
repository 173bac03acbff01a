#include <gtest/gtest.h>

#include "rules/validation/rules.h"
#include "rules/validation/testing/table.h"

namespace trainyard::jobs {
namespace {

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
            "have at least 4 characters."},
        Row{"role_env", kPackage, "env { name: 'A' } master_config { env { name: 'A' value: '1' } }", ""},
        Row{"role_env_reserved", kPackage, "worker_config { env { name: 'RANK' } }",
            "worker_config.env[0].name: The variable RANK is set by the service."},
        Row{"role_env_twice", kPackage, "master_config { env { name: 'A' } env { name: 'A' } }",
            "master_config.env[1].name: The variable A is given twice."},
        Row{"role_secret", kPackage, "master_config { env { name: 'A' value: 'hunter2' secret: true } }",
            "master_config.env: The variable A of a role cannot be a secret: give it in trainingInput.env."},
        Row{"vertex_replaced", kPackage,
            "program_variables: VERTEX_AI env { name: 'CLOUD_ML_PROJECT_ID' value: 'p' } "
            "master_config { env { name: 'MASTER_ADDR' value: '127.0.0.1' } }",
            ""},
        Row{"vertex_device", kPackage, "program_variables: VERTEX_AI env { name: 'CUDA_VISIBLE_DEVICES' }",
            "env[0].name: The variable CUDA_VISIBLE_DEVICES is set by the service."},
        Row{"vertex_metric", kPackage, "program_variables: VERTEX_AI env { name: 'CLOUD_ML_HP_METRIC_FILE' }",
            "env[0].name: "}),
    RowName);

TEST(Variables, HaveLimitsOfNumberAndBytes) {
  ml::v1::Job job;
  ml::v1::TrainingInput& input = *job.mutable_training_input();
  const auto refused = [&job] { return rules::Variables(job, {}); };
  for (int i = 0; i < 100; ++i) input.add_env()->set_name("A" + std::to_string(i));
  EXPECT_TRUE(refused().empty());
  input.add_env()->set_name("B");
  EXPECT_EQ(refused(), (Violations{InvalidArgument("env", "A job can have at most 100 variables.")}));
  input.clear_env();
  for (int i = 0; i < 101; ++i)
    input.mutable_evaluator_config()->add_env()->set_name("A" + std::to_string(i));
  EXPECT_EQ(refused(),
            (Violations{InvalidArgument("evaluator_config.env", "A role can have at most 100 variables.")}));
  input.clear_evaluator_config();
  input.add_env()->set_name("A");
  input.mutable_env(0)->set_value(std::string((32 << 10) - 1, 'x'));
  EXPECT_TRUE(refused().empty());
  input.mutable_env(0)->mutable_value()->push_back('x');
  EXPECT_EQ(
      refused(),
      (Violations{InvalidArgument("env",
                                  "The names and values of a job's variables can have at most 32768 bytes "
                                  "together; these have 32769.")}));
}

}  // namespace
}  // namespace trainyard::jobs
