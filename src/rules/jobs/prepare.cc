#include "rules/jobs/prepare.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/fnv1a.h"
#include "base/text/hex.h"
#include "base/wire/time.h"
#include "rules/cluster/machine_type.h"
#include "rules/cluster/role.h"
#include "rules/cluster/scale_tier.h"
#include "rules/jobs/trial.h"

namespace trainyard::jobs {
namespace {

using cluster::Role;
using control::v1::JobRecord;
using ml::v1::ParameterSpec;
using ml::v1::TrainingInput;

constexpr std::string_view kTpuWorker = "cloud_tpu";

void SetAccelerators(const cluster::Accelerators& accelerators, control::v1::ReplicaRecord& replica) {
  replica.mutable_accelerators()->set_type(accelerators.type);
  replica.mutable_accelerators()->set_count(accelerators.count);
}

/// A cloud_tpu worker is not a replica of the job's TensorFlow cluster and runs no user code: it is the TPU
/// that the master's program uses. Source: spec environment.md section 1, cluster.md section 6;
/// docs/adr/0011-accelerators.md.
void GiveTpuToMaster(const cluster::Accelerators& tpu, JobRecord& record) {
  TY_CHECK(record.replicas_size() > 0);  // the master comes first
  control::v1::ReplicaRecord& master = *record.mutable_replicas(0);
  if (master.accelerators().count() > 0)
    record.add_notes("The master's GPUs have no effect beside a cloud_tpu worker: it gets the TPU.");
  SetAccelerators(tpu, master);
}

void AddReplicas(const TrainingInput& input, const RoleImages& containers, JobRecord& record) {
  const auto plans = cluster::Expand(input);
  TY_CHECK(plans.has_value());
  for (const cluster::ReplicaPlan& plan : *plans) {
    if (plan.machine_type == kTpuWorker) {
      GiveTpuToMaster(plan.accelerators, record);
      continue;
    }
    control::v1::ReplicaRecord& replica = *record.add_replicas();
    *replica.mutable_id() = plan.id();
    replica.set_machine_type(plan.machine_type);
    replica.set_cpus(plan.vcpus);
    replica.set_memory_bytes(plan.memory_bytes);
    if (plan.accelerators.count > 0) SetAccelerators(plan.accelerators, replica);
    if (const auto image = containers.find(plan.type); image != containers.end())
      replica.set_image(image->second);
  }
}

void SortDiscreteValues(TrainingInput& input) {
  for (ParameterSpec& param : *input.mutable_hyperparameters()->mutable_params())
    std::ranges::sort(*param.mutable_discrete_values());
}

constexpr std::string_view kNoEffect = " is kept and shown, but has no effect on this server.";

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
  const ml::v1::ReplicaConfig& config = input.worker_config();
  for (const auto& [field, is_set] :
       {std::pair{"args", !config.args().empty()}, std::pair{"env", !config.env().empty()},
        std::pair{"python_module", !config.python_module().empty()},
        std::pair{"package_uris", !config.package_uris().empty()}}) {
    if (is_set)
      notes.push_back("worker_config." + std::string(field) +
                      " has no effect: a cloud_tpu worker runs no program.");
  }
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
  const bool is_vertex = input.program_variables() == ml::v1::TrainingInput::VERTEX_AI;
  if (!has_image && input.use_chief_in_tf_config() && !is_vertex) {
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

void ClearOwnFields(ml::v1::ReplicaConfig& config) {
  config.clear_args();
  config.clear_env();
  config.clear_python_module();
  config.clear_package_uris();
}

}  // namespace

RoleImages NamedImages(const TrainingInput& input) {
  RoleImages images;
  for (const cluster::Role& role : cluster::Roles(input)) {
    const std::string& own = role.config.image_uri();
    const std::string& image = own.empty() ? input.master_config().image_uri() : own;
    if (!image.empty()) images[role.type] = image;
  }
  return images;
}

JobRecord MakeRecord(std::string project, const ml::v1::Job& validated, std::string runtime_version,
                     SysTime now, const RoleImages& containers) {
  JobRecord record;
  record.set_cluster_hash(ClusterHash(project, validated.job_id()));
  record.set_project(std::move(project));
  record.set_runtime_version(std::move(runtime_version));
  *record.mutable_job() = WithDefaults(validated);
  if (validated.training_input().has_hyperparameters())
    SortDiscreteValues(*record.mutable_job()->mutable_training_input());
  *record.mutable_job()->mutable_create_time() = wire::ToProto(now);
  AddReplicas(validated.training_input(), containers, record);
  for (std::string& note : Notes(validated.training_input(), containers)) record.add_notes(std::move(note));
  return record;
}

std::string ClusterHash(std::string_view project, std::string_view job_id) {
  const std::uint64_t hash = Fnv1a(std::string(project) + "/" + std::string(job_id));
  constexpr int kDigits = 10;
  return text::HexNumber(hash >> (64 - 4 * kDigits), kDigits);
}

ml::v1::Job WithDefaults(ml::v1::Job job) {
  job.clear_create_time();
  job.clear_start_time();
  job.clear_end_time();
  job.clear_error_message();
  job.clear_etag();
  job.clear_job_position();
  job.clear_prediction_output();
  job.clear_training_output();
  job.set_state(ml::v1::Job::QUEUED);
  ml::v1::TrainingOutput& output = *job.mutable_training_output();
  if (job.training_input().has_hyperparameters()) {
    const std::string& tag = job.training_input().hyperparameters().hyperparameter_metric_tag();
    output.set_is_hyperparameter_tuning_job(true);
    output.set_hyperparameter_metric_tag(tag.empty() ? "training/hptuning/metric" : tag);
  }
  return job;
}

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
  if (spec.enable_trial_early_stopping() && !spec.further_metrics().empty())
    notes.emplace_back(
        "hyperparameters: enable_trial_early_stopping has no effect with several metrics: no trial is "
        "stopped early.");
  for (const ParameterSpec& param : spec.params()) AddParameter(param, notes);
  return notes;
}

Secrets TakeSecrets(ml::v1::Job& job) {
  Secrets secrets;
  if (!job.has_training_input()) return secrets;
  for (ml::v1::EnvVar& variable : *job.mutable_training_input()->mutable_env()) {
    if (!variable.secret()) continue;
    secrets[variable.name()] = std::move(*variable.mutable_value());
    variable.clear_value();
  }
  return secrets;
}

ml::v1::TrainingInput WithoutOwnFields(ml::v1::TrainingInput input) {
  input.clear_env();
  input.clear_job_dir_as_variable();
  input.clear_output_uri_prefix();
  input.clear_program_variables();
  if (input.has_master_config()) ClearOwnFields(*input.mutable_master_config());
  if (input.has_worker_config()) ClearOwnFields(*input.mutable_worker_config());
  if (input.has_parameter_server_config()) ClearOwnFields(*input.mutable_parameter_server_config());
  if (input.has_evaluator_config()) ClearOwnFields(*input.mutable_evaluator_config());
  if (input.has_hyperparameters()) {
    input.mutable_hyperparameters()->clear_further_metrics();
    for (ParameterSpec& param : *input.mutable_hyperparameters()->mutable_params()) param.clear_condition();
  }
  return input;
}

void SetAlgorithm(const std::string& name, const std::string& model_folder,
                  const ml::v1::BuiltInAlgorithmOutput& output, control::v1::JobRecord& record) {
  record.set_algorithm(name);
  record.set_model_folder(model_folder);
  ml::v1::TrainingOutput& shown = *record.mutable_job()->mutable_training_output();
  shown.set_is_built_in_algorithm_job(true);
  *shown.mutable_built_in_algorithm_output() = output;
  for (control::v1::ReplicaRecord& replica : *record.mutable_replicas())
    if (cluster::IsTpu(replica.accelerators().type())) replica.clear_accelerators();
}

void SetModelPath(control::v1::JobRecord& record) {
  ml::v1::Job& job = *record.mutable_job();
  if (record.algorithm().empty() || record.has_tuning() || job.state() != ml::v1::Job::SUCCEEDED) return;
  std::string path = JobDirOf(record);
  if (!path.ends_with('/')) path += '/';
  job.mutable_training_output()->mutable_built_in_algorithm_output()->set_model_path(path +
                                                                                     record.model_folder());
}

}  // namespace trainyard::jobs
