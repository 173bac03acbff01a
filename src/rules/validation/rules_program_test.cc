#include <gtest/gtest.h>

#include "rules/validation/testing/table.h"

namespace trainyard::jobs {
namespace {

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
        Row{"job_dir_empty_bucket", kPackage, "job_dir: 'gs:///out'", "job_dir: "},
        Row{"job_dir_as_variable", kPackage, "job_dir: 'gs://bucket/out' job_dir_as_variable: true", ""},
        Row{"job_dir_as_no_variable", kPackage, "job_dir_as_variable: true", "job_dir: "}),
    RowName);

INSTANTIATE_TEST_SUITE_P(
    ProgramOfARole, Table,
    testing::Values(
        Row{"all", kPackage,
            "args: '--a' master_config { args: '--b' python_module: 'trainer.chief' env { name: 'A' } }", ""},
        Row{"args_nul", kPackage, "master_config { args: 'a\\000b' }", "master_config.args: "},
        Row{"args_and_container_args", kContainer, "worker_config { args: 'a' container_args: 'b' }",
            "worker_config.container_args: This field and args are mutually exclusive"},
        Row{"args_of_another_role", kContainer,
            "master_config { args: 'a' } worker_config { container_args: 'b' }", ""},
        Row{"module_form", kPackage, "master_config { python_module: 'a..b' }",
            "master_config.python_module: 'a..b' is not the name of a Python module."},
        Row{"module_of_an_image", kContainer, "master_config { python_module: 't' }",
            "master_config.python_module: It replaces the job's python_module for this role: set that field, "
            "too, or give the role its own package_uris."},
        Row{"module_and_command", kContainer,
            "package_uris: 'gs://bucket/t.tgz' python_module: 't' "
            "evaluator_config { python_module: 'e' container_command: 'c' }",
            "evaluator_config.python_module: It cannot be set together with container_command or "
            "container_args"}),
    RowName);

const std::string& TooManyPackages() {
  static const std::string text = [] {
    std::string uris = "worker_config { ";
    for (int i = 0; i <= 100; ++i) uris += "package_uris: 'gs://bucket/o' ";
    return uris + "}";
  }();
  return text;
}

INSTANTIATE_TEST_SUITE_P(
    PackagesOfARole, Table,
    testing::Values(
        Row{"own", kPackage, "worker_config { package_uris: 'gs://bucket/w.tgz' }", ""},
        Row{"own_and_module", kPackage, "master_config { package_uris: 'gs://bucket/o' python_module: 'm' }",
            ""},
        Row{"in_an_image", kContainer, "worker_config { package_uris: 'gs://bucket/o' python_module: 'm' }",
            ""},
        Row{"no_module", kContainer, "worker_config { package_uris: 'gs://bucket/o' }",
            "worker_config.python_module: This field is required when worker_config.package_uris is set."},
        Row{"not_gs", kPackage, "evaluator_config { package_uris: '/tmp/x' }",
            "evaluator_config.package_uris: The provided GCS path '/tmp/x' is not valid"},
        Row{"folder", kPackage, "parameter_server_config { package_uris: 'gs://bucket/o/' }",
            "parameter_server_config.package_uris: The provided GCS path 'gs://bucket/o/' does not name an "
            "object"},
        Row{"many", kPackage, TooManyPackages().c_str(),
            "worker_config.package_uris: The maximum number of package URIs is 100."},
        Row{"and_command", kContainer,
            "python_module: 'm' worker_config { package_uris: 'gs://bucket/o' container_command: 'c' }",
            "worker_config.package_uris: It cannot be set together with container_command or container_args"},
        Row{"and_container_args", kContainer,
            "python_module: 'm' worker_config { package_uris: 'gs://bucket/o' container_args: 'c' }",
            "worker_config.package_uris: It cannot be set together"},
        Row{"not_for_all", "",
            "region: 'us-central1' python_module: 't' worker_config { package_uris: 'gs://bucket/o' }",
            "package_uris: This field is required for jobs without master_config.image_uri."}),
    RowName);

INSTANTIATE_TEST_SUITE_P(
    ProgramVariables, Table,
    testing::Values(
        Row{"vertex", kPackage, "program_variables: VERTEX_AI", ""},
        Row{"vertex_prefix", kContainer, "program_variables: VERTEX_AI output_uri_prefix: 'gs://bucket/out/'",
            ""},
        Row{"unknown", kPackage, "program_variables: 7",
            "program_variables: There is no value 7: use AI_PLATFORM or VERTEX_AI."},
        Row{"prefix_local", kPackage, "program_variables: VERTEX_AI output_uri_prefix: '/tmp/out'",
            "output_uri_prefix: The provided GCS path '/tmp/out' is not valid"},
        Row{"prefix_alone", kPackage, "output_uri_prefix: 'gs://bucket/out'",
            "output_uri_prefix: It needs program_variables VERTEX_AI"},
        Row{"prefix_and_job_dir_as_variable", kPackage,
            "program_variables: VERTEX_AI output_uri_prefix: 'gs://bucket/out' job_dir: 'gs://bucket/out' "
            "job_dir_as_variable: true",
            ""}),
    RowName);

}  // namespace
}  // namespace trainyard::jobs
