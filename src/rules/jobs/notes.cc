#include "rules/jobs/notes.h"

#include <algorithm>
#include <string_view>

#include "rules/cluster/role.h"
#include "rules/cluster/scale_tier.h"

namespace trainyard::jobs {
namespace {

using cluster::Role;
using ml::v1::ParameterSpec;
using ml::v1::TrainingInput;

constexpr std::string_view kNoEffect = " is kept and shown, but has no effect on this server.";

constexpr std::string_view kTpuWorker = "cloud_tpu";

using Sentences = std::vector<std::string>;

/// Notes about a role that runs a container.
void AddContainer(const TrainingInput& input, const Role& role, Sentences& notes) {
  const std::string config = std::string(role.field) + "_config.";
  if (!role.config.disk_config().boot_disk_type().empty())
    notes.push_back((config + "disk_config.boot_disk_type").append(kNoEffect));
  const bool has_program = !role.config.container_command().empty() || !role.config.container_args().empty();
  if (has_program && !input.python_module().empty()) {
    notes.push_back("package_uris and python_module have no effect on replicas whose " + config +
                    (role.config.container_command().empty() ? "container_args" : "container_command") +
                    " says what to run.");
  }
}

bool HasTpuWorker(const TrainingInput& input) {
  return input.scale_tier() == TrainingInput::BASIC_TPU ||
         (input.scale_tier() == TrainingInput::CUSTOM && input.worker_type() == kTpuWorker);
}

/// A cloud_tpu worker is the TPU of the master and runs nothing itself.
void AddTpuWorker(const TrainingInput& input, const RoleImages& containers, Sentences& notes) {
  const std::string brought = containers.contains(replica::v1::MASTER) ? "image" : "runtime version";
  const std::string& image = input.worker_config().image_uri();
  if (!image.empty() && image != input.master_config().image_uri())
    notes.push_back("worker_config.image_uri " + image +
                    " is not run: the TPU is used by the master's program, with what its " + brought +
                    " brings.");
  if (!input.worker_config().tpu_tf_version().empty())
    notes.emplace_back("worker_config.tpu_tf_version " + input.worker_config().tpu_tf_version() +
                       " changes nothing here: the TPU is driven by the TensorFlow of the master's " +
                       brought + ".");
}

void AddRoles(const TrainingInput& input, const RoleImages& containers, Sentences& notes) {
  const auto groups = cluster::Groups(input);
  if (!groups) return;
  const std::string tier = TrainingInput::ScaleTier_Name(input.scale_tier());
  for (const Role& role : cluster::Roles(input)) {
    const std::string field(role.field);
    const bool is_tpu = role.type == replica::v1::WORKER && HasTpuWorker(input);
    if (input.scale_tier() != TrainingInput::CUSTOM && !role.machine_type.empty()) {
      notes.push_back(field + "_type " + role.machine_type + " has no effect with scale_tier " + tier + ".");
    }
    if (!role.has_config) continue;
    if (std::ranges::find(*groups, role.type, &cluster::ReplicaGroup::type) == groups->end()) {
      notes.push_back(field + "_config has no effect: the job has no such replicas.");
    } else if (containers.contains(role.type) && !is_tpu) {
      AddContainer(input, role, notes);
    } else if (role.config.has_disk_config()) {
      notes.push_back((field + "_config.disk_config").append(kNoEffect));
    }
  }
}

void AddSettings(const TrainingInput& input, const RoleImages& containers, Sentences& notes) {
  const bool has_image = !input.master_config().image_uri().empty();
  if (containers.contains(replica::v1::MASTER) && !input.python_version().empty()) {
    notes.push_back("python_version " + input.python_version() +
                    " has no effect with master_config.image_uri: the image brings its own Python.");
  }
  if (!has_image && input.use_chief_in_tf_config()) {
    notes.emplace_back("use_chief_in_tf_config has no effect without a custom container.");
  }
  if (!input.network().empty()) notes.push_back(("network " + input.network()).append(kNoEffect));
  if (input.has_encryption_config()) {
    notes.push_back(("encryption_config " + input.encryption_config().kms_key_name()).append(kNoEffect));
  }
}

void AddParameter(const ParameterSpec& param, Sentences& notes) {
  const auto unused = [&](std::string_view field) {
    notes.push_back("hyperparameters: " + std::string(field) + " of " + param.parameter_name() +
                    " has no effect for the type " + ParameterSpec::Type_Name(param.type()) + ".");
  };
  const bool ranged = param.type() == ParameterSpec::DOUBLE || param.type() == ParameterSpec::INTEGER;
  if (!ranged && param.min_value() != 0) unused("min_value");
  if (!ranged && param.max_value() != 0) unused("max_value");
  if (param.type() != ParameterSpec::CATEGORICAL && !param.categorical_values().empty())
    unused("categorical_values");
  if (param.type() != ParameterSpec::DISCRETE && !param.discrete_values().empty()) unused("discrete_values");
  if (param.type() == ParameterSpec::DISCRETE && !std::ranges::is_sorted(param.discrete_values())) {
    notes.push_back("hyperparameters: discrete_values of " + param.parameter_name() +
                    " were out of order; the job has them in increasing order.");
  }
}

}  // namespace

Sentences Notes(const TrainingInput& validated, const RoleImages& containers) {
  Sentences notes;
  AddRoles(validated, containers, notes);
  if (HasTpuWorker(validated)) AddTpuWorker(validated, containers, notes);
  AddSettings(validated, containers, notes);
  const ml::v1::HyperparameterSpec& spec = validated.hyperparameters();
  if (spec.max_parallel_trials() > std::max(spec.max_trials(), 1)) {
    notes.push_back("hyperparameters: max_parallel_trials is more than max_trials; no more than " +
                    std::to_string(std::max(spec.max_trials(), 1)) + " trials run at the same time.");
  }
  for (const ParameterSpec& param : spec.params()) AddParameter(param, notes);
  return notes;
}

}  // namespace trainyard::jobs
