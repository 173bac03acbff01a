#include "rules/vertex/error_fields.h"

#include <array>
#include <utility>

#include "rules/vertex/findings.h"

namespace trainyard::vertex {
namespace {

struct Name {
  std::string_view ml;
  std::string_view vertex;
};

constexpr std::array<Name, 4> kRoles = {
    {{"master", "[0]"}, {"worker", "[1]"}, {"parameter_server", "[2]"}, {"evaluator", "[3]"}}};

/// What follows the role's name.
constexpr std::array<Name, 11> kOfRole = {
    {{"_type", ".machine_spec.machine_type"},
     {"_count", ".replica_count"},
     {"_config.accelerator_config", ".machine_spec.accelerator_type"},
     {"_config.accelerator_config.type", ".machine_spec.accelerator_type"},
     {"_config.accelerator_config.count", ".machine_spec.accelerator_count"},
     {"_config.disk_config.boot_disk_type", ".disk_spec.boot_disk_type"},
     {"_config.disk_config.boot_disk_size_gb", ".disk_spec.boot_disk_size_gb"},
     {"_config.image_uri", ".container_spec.image_uri"},
     {"_config.container_command", ".container_spec.command"},
     {"_config.container_args", ".container_spec.args"},
     {"_config.python_module", ".python_package_spec.python_module"}}};

constexpr std::array<Name, 12> kOfJob = {
    {{"package_uris", "job_spec.worker_pool_specs[0].python_package_spec.package_uris"},
     {"python_module", "job_spec.worker_pool_specs[0].python_package_spec.python_module"},
     {"args", "job_spec.worker_pool_specs[0].python_package_spec.args"},
     {"runtime_version", "job_spec.worker_pool_specs[0].python_package_spec.executor_image_uri"},
     {"python_version", "job_spec.worker_pool_specs[0].python_package_spec.executor_image_uri"},
     {"job_dir", "job_spec.base_output_directory.output_uri_prefix"},
     {"output_uri_prefix", "job_spec.base_output_directory.output_uri_prefix"},
     {"scheduling.max_running_time", "job_spec.scheduling.timeout"},
     {"scheduling.max_wait_time", "job_spec.scheduling.max_wait_duration"},
     {"service_account", "job_spec.service_account"},
     {"encryption_config.kms_key_name", "encryption_spec.kms_key_name"},
     {"labels", "labels"}}};

template <std::size_t kSize>
std::string_view Find(const std::array<Name, kSize>& names, std::string_view ml) {
  for (const Name& name : names)
    if (name.ml == ml) return name.vertex;
  return {};
}

}  // namespace

std::string CustomJobField(std::string_view ml_field) {
  std::string_view bare = ml_field;
  for (const std::string_view prefix : {"job.", "training_input."})
    if (bare.starts_with(prefix)) bare.remove_prefix(prefix.size());
  if (const std::string_view found = Find(kOfJob, bare); !found.empty()) return std::string(found);
  for (const Name& role : kRoles) {
    if (!bare.starts_with(role.ml)) continue;
    const std::string_view found = Find(kOfRole, bare.substr(role.ml.size()));
    if (!found.empty()) return std::string("job_spec.worker_pool_specs").append(role.vertex).append(found);
  }
  return std::string(ml_field);
}

Error InCustomJob(Error error) {
  if (error.code != Code::kInvalidArgument) {
    error.field = CustomJobField(error.field);
    for (FieldViolation& violation : error.violations) violation.field = CustomJobField(violation.field);
    return error;
  }
  Findings findings;
  for (FieldViolation& violation : error.violations)
    findings.Add(CustomJobField(violation.field), std::move(violation.description));
  if (findings.empty() && !error.field.empty())
    findings.Add(CustomJobField(error.field), std::move(error.message));
  if (findings.empty()) return error;
  return std::move(findings).ToError();
}

}  // namespace trainyard::vertex
