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
constexpr std::array<Name, 14> kOfRole = {
    {{"_type", ".machine_spec.machine_type"},
     {"_count", ".replica_count"},
     {"_config.accelerator_config", ".machine_spec.accelerator_type"},
     {"_config.accelerator_config.type", ".machine_spec.accelerator_type"},
     {"_config.accelerator_config.count", ".machine_spec.accelerator_count"},
     {"_config.disk_config.boot_disk_type", ".disk_spec.boot_disk_type"},
     {"_config.disk_config.boot_disk_size_gb", ".disk_spec.boot_disk_size_gb"},
     {"_config.image_uri", ".TASK.IMAGE_uri"},
     {"_config.container_command", ".container_spec.command"},
     {"_config.container_args", ".container_spec.args"},
     {"_config.args", ".python_package_spec.args"},
     {"_config.env", ".TASK.env"},
     {"_config.python_module", ".python_package_spec.python_module"},
     {"_config.package_uris", ".python_package_spec.package_uris"}}};

constexpr std::array<Name, 14> kOfJob = {
    {{"training_input", "job_spec"},
     {"env", "job_spec.worker_pool_specs[0].TASK.env"},
     {"package_uris", "job_spec.worker_pool_specs[0].python_package_spec.package_uris"},
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

/// The name in Vertex AI, with the indexes and members behind the name in ml v1; empty: there is none.
template <std::size_t kSize>
std::string Find(const std::array<Name, kSize>& names, std::string_view ml) {
  for (const Name& name : names)
    if (name.ml == ml) return std::string(name.vertex);
  for (const Name& name : names)
    if (ml.starts_with(name.ml) && ml.substr(name.ml.size()).starts_with('['))
      return std::string(name.vertex).append(ml.substr(name.ml.size()));
  return {};
}

/// "python_package_spec" or "container_spec" for "TASK", as the pool has it, and what the image is there for
/// "IMAGE".
std::string WithTask(const aip::CustomJobSpec& spec, std::string field) {
  constexpr std::string_view kTask = "TASK";
  constexpr std::string_view kImage = "IMAGE";
  constexpr std::string_view kPools = "job_spec.worker_pool_specs[";
  const std::size_t at = field.find(kTask);
  if (at == std::string::npos) return field;
  const int pool = field[kPools.size()] - '0';
  const bool is_package =
      pool < spec.worker_pool_specs_size() && spec.worker_pool_specs(pool).has_python_package_spec();
  if (const std::size_t image = field.find(kImage); image != std::string::npos)
    field.replace(image, kImage.size(), is_package ? "executor_image" : "image");
  return field.replace(at, kTask.size(), is_package ? "python_package_spec" : "container_spec");
}

}  // namespace

std::string CustomJobField(const aip::CustomJobSpec& spec, std::string_view ml_field) {
  std::string_view bare = ml_field;
  for (const std::string_view prefix : {"job.", "training_input."})
    if (bare.starts_with(prefix)) bare.remove_prefix(prefix.size());
  if (std::string found = Find(kOfJob, bare); !found.empty()) return WithTask(spec, std::move(found));
  for (const Name& role : kRoles) {
    if (!bare.starts_with(role.ml)) continue;
    const std::string found = Find(kOfRole, bare.substr(role.ml.size()));
    if (!found.empty())
      return WithTask(spec, std::string("job_spec.worker_pool_specs").append(role.vertex).append(found));
  }
  return std::string(ml_field);
}

Error InCustomJob(const aip::CustomJobSpec& spec, Error error) {
  const auto renamed = [&spec](std::string_view field) { return CustomJobField(spec, field); };
  if (error.code != Code::kInvalidArgument) {
    error.field = renamed(error.field);
    for (FieldViolation& violation : error.violations) violation.field = renamed(violation.field);
    return error;
  }
  Findings findings;
  for (FieldViolation& violation : error.violations)
    findings.Add(renamed(violation.field), std::move(violation.description));
  if (findings.empty() && !error.field.empty()) findings.Add(renamed(error.field), std::move(error.message));
  if (findings.empty()) return error;
  return std::move(findings).ToError();
}

}  // namespace trainyard::vertex
