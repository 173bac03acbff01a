#include <algorithm>

#include "google/rpc/status.pb.h"
#include "rules/cluster/role.h"
#include "rules/cluster/role_packages.h"
#include "rules/cluster/scale_tier.h"
#include "rules/vertex/custom_job.h"
#include "rules/vertex/runtime_images.h"
#include "rules/vertex/task_names.h"

namespace trainyard::vertex {
namespace {

using ml::v1::Job;
using ml::v1::TrainingInput;

void SetTimes(const Job& now, aip::CustomJob& answer) {
  answer.clear_start_time();
  answer.clear_end_time();
  *answer.mutable_create_time() = now.create_time();
  *answer.mutable_update_time() = now.create_time();
  if (now.has_start_time()) {
    *answer.mutable_start_time() = now.start_time();
    *answer.mutable_update_time() = now.start_time();
  }
  if (now.has_end_time()) {
    *answer.mutable_end_time() = now.end_time();
    *answer.mutable_update_time() = now.end_time();
  }
}

void SetError(const Job& now, aip::CustomJob& answer) {
  answer.clear_error();
  if (now.state() == Job::FAILED) {
    answer.mutable_error()->set_code(static_cast<int>(Code::kInvalidArgument));
    answer.mutable_error()->set_message(now.error_message());
  } else if (now.state() == Job::CANCELLED) {
    answer.mutable_error()->set_code(static_cast<int>(Code::kCancelled));
    answer.mutable_error()->set_message("CANCELED");
  }
}

void SetOutputs(const Job& now, std::string name, aip::CustomJob& answer) {
  answer.set_name(std::move(name));
  answer.set_state(StateOf(now.state()));
  *answer.mutable_labels() = now.labels();
  SetTimes(now, answer);
  SetError(now, answer);
  answer.clear_web_access_uris();
  for (const auto& [task, uri] : now.training_output().web_access_uris())
    (*answer.mutable_web_access_uris())[PoolTaskName(task)] = uri;
}

template <class Variables>
void AddVariables(const Variables& from, google::protobuf::RepeatedPtrField<aip::EnvVar>& to) {
  for (const ml::v1::EnvVar& variable : from) {
    auto found = std::ranges::find(to, variable.name(), &aip::EnvVar::name);
    aip::EnvVar& copy = found == to.end() ? *to.Add() : *found;
    copy.set_name(variable.name());
    copy.set_value(variable.value());
  }
}

void DescribePackage(const TrainingInput& input, const ml::v1::ReplicaConfig& config,
                     const std::string& image, aip::PythonPackageSpec& package) {
  package.set_executor_image_uri(image.empty() ? ImageOf(input.runtime_version()) : image);
  *package.mutable_package_uris() =
      config.package_uris().empty() ? input.package_uris() : config.package_uris();
  package.set_python_module(cluster::ModuleOf(input, config));
  *package.mutable_args() = config.args().empty() ? input.args() : config.args();
  AddVariables(input.env(), *package.mutable_env());
  AddVariables(config.env(), *package.mutable_env());
}

void DescribeContainer(const TrainingInput& input, const ml::v1::ReplicaConfig& config,
                       const std::string& image, aip::ContainerSpec& container) {
  container.set_image_uri(image);
  *container.mutable_command() = config.container_command();
  *container.mutable_args() = config.container_args().empty() ? input.args() : config.container_args();
  AddVariables(input.env(), *container.mutable_env());
  AddVariables(config.env(), *container.mutable_env());
}

void DescribeProgram(const TrainingInput& input, const ml::v1::ReplicaConfig& config,
                     aip::WorkerPoolSpec& pool) {
  const std::string& image =
      config.image_uri().empty() ? input.master_config().image_uri() : config.image_uri();
  const bool has_own = !config.container_command().empty() || !config.container_args().empty();
  if (!has_own && !cluster::ModuleOf(input, config).empty())
    DescribePackage(input, config, image, *pool.mutable_python_package_spec());
  else
    DescribeContainer(input, config, image, *pool.mutable_container_spec());
}

void DescribeMachine(const cluster::ReplicaGroup& group, const ml::v1::ReplicaConfig& config,
                     aip::WorkerPoolSpec& pool) {
  aip::MachineSpec& machine = *pool.mutable_machine_spec();
  machine.set_machine_type(std::string(group.machine->name));
  aip::AcceleratorType type = aip::ACCELERATOR_TYPE_UNSPECIFIED;
  if (group.accelerators.count > 0 &&
      aip::AcceleratorType_Parse(ml::v1::AcceleratorConfig::Type_Name(group.accelerators.type), &type)) {
    machine.set_accelerator_type(type);
    machine.set_accelerator_count(static_cast<std::int32_t>(group.accelerators.count));
  }
  pool.set_replica_count(group.count);
  if (!config.has_disk_config()) return;
  pool.mutable_disk_spec()->set_boot_disk_type(config.disk_config().boot_disk_type());
  pool.mutable_disk_spec()->set_boot_disk_size_gb(config.disk_config().boot_disk_size_gb());
}

void DescribePools(const TrainingInput& input, aip::CustomJobSpec& spec) {
  const auto groups = cluster::Groups(input);
  if (!groups) return;
  for (const cluster::ReplicaGroup& group : *groups) {
    const auto position = PoolOf(group.type);
    if (!position) continue;
    while (spec.worker_pool_specs_size() <= *position) spec.add_worker_pool_specs();
    aip::WorkerPoolSpec& pool = *spec.mutable_worker_pool_specs(*position);
    const auto roles = cluster::Roles(input);
    const auto* role = std::ranges::find(roles, group.type, &cluster::Role::type);
    DescribeMachine(group, role->config, pool);
    DescribeProgram(input, role->config, pool);
  }
}

}  // namespace

aip::CustomJob CustomJobOf(const aip::CustomJob& asked, const Job& now, std::string name) {
  aip::CustomJob answer = asked;
  SetOutputs(now, std::move(name), answer);
  return answer;
}

aip::CustomJob CustomJobOf(const Job& now, std::string name) {
  aip::CustomJob answer;
  answer.set_display_name(now.display_name().empty() ? now.job_id() : now.display_name());
  const TrainingInput& input = now.training_input();
  aip::CustomJobSpec& spec = *answer.mutable_job_spec();
  DescribePools(input, spec);
  if (input.scheduling().has_max_running_time())
    *spec.mutable_scheduling()->mutable_timeout() = input.scheduling().max_running_time();
  if (input.scheduling().has_max_wait_time())
    *spec.mutable_scheduling()->mutable_max_wait_duration() = input.scheduling().max_wait_time();
  spec.set_service_account(input.service_account());
  spec.set_network(input.network());
  spec.set_enable_web_access(input.enable_web_access());
  const std::string& prefix = input.output_uri_prefix().empty() ? input.job_dir() : input.output_uri_prefix();
  if (!prefix.empty()) spec.mutable_base_output_directory()->set_output_uri_prefix(prefix);
  SetOutputs(now, std::move(name), answer);
  return answer;
}

aip::JobState StateOf(Job::State state) {
  switch (state) {
    case Job::QUEUED: return aip::JOB_STATE_QUEUED;
    case Job::PREPARING: return aip::JOB_STATE_PENDING;
    case Job::RUNNING: return aip::JOB_STATE_RUNNING;
    case Job::SUCCEEDED: return aip::JOB_STATE_SUCCEEDED;
    case Job::FAILED: return aip::JOB_STATE_FAILED;
    case Job::CANCELLING: return aip::JOB_STATE_CANCELLING;
    case Job::CANCELLED: return aip::JOB_STATE_CANCELLED;
    default: return aip::JOB_STATE_UNSPECIFIED;
  }
}

}  // namespace trainyard::vertex
