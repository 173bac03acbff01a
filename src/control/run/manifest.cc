#include "control/run/manifest.h"

#include <algorithm>

#include "base/check.h"
#include "base/wire/host_name.h"
#include "base/wire/json.h"
#include "base/wire/time.h"
#include "control/run/token_service.h"
#include "rules/algorithms/algorithm.h"
#include "rules/cluster/machine_type.h"
#include "rules/cluster/role.h"
#include "rules/cluster/role_packages.h"
#include "rules/cluster/task_name.h"
#include "rules/cluster/tf_config.h"
#include "rules/jobs/prepare.h"
#include "rules/jobs/time_limits.h"
#include "rules/jobs/trial.h"

namespace trainyard::control {

namespace {

const ml::v1::ReplicaConfig& ConfigOf(const ml::v1::TrainingInput& input, replica::v1::TaskType type) {
  for (const cluster::Role& role : cluster::Roles(input))
    if (role.type == type) return role.config;
  return ml::v1::ReplicaConfig::default_instance();
}

/// The arguments of the user: the role's own, or those of the job.
const google::protobuf::RepeatedPtrField<std::string>& ArgsOf(const ml::v1::TrainingInput& input,
                                                              const ml::v1::ReplicaConfig& config) {
  return config.args().empty() ? input.args() : config.args();
}

void SetPackage(const v1::JobRecord& job, replica::v1::TaskType role,
                replica::v1::Manifest::Program& program) {
  const ml::v1::TrainingInput& input = job.job().training_input();
  const ml::v1::ReplicaConfig& config = ConfigOf(input, role);
  *program.mutable_packages() = cluster::PackagesOf(job, role);
  program.set_built_in_algorithm(!job.algorithm().empty());
  program.set_python_module(job.algorithm().empty() ? cluster::ModuleOf(input, config)
                                                    : algorithms::ModuleOf(job.algorithm()));
  *program.mutable_args() = ArgsOf(input, config);
  for (std::string& arg : ServiceArgs(job)) program.add_args(std::move(arg));
}

/// The record of the replica's image; null: there is none.
const v1::ImageRecord* FindImage(const v1::JobRecord& job, const v1::ReplicaRecord& replica) {
  const auto known = std::ranges::find(job.images(), replica.image(), &v1::ImageRecord::image);
  return known == job.images().end() ? nullptr : &*known;
}

/// The package of the job or the role is run by the image's Python, unless the role has its own command: then
/// the job's package is not installed in the replica.
void SetContainer(const v1::JobRecord& job, const v1::ReplicaRecord& replica,
                  replica::v1::Manifest::Program& program) {
  const ml::v1::TrainingInput& input = job.job().training_input();
  replica::v1::Manifest::Container& container = *program.mutable_container();
  const v1::ImageRecord* known = FindImage(job, replica);
  TY_CHECK(known != nullptr);  // looked up when the job was created
  container.set_image(known->image());
  container.set_reference(known->reference());
  container.set_digest(known->digest());
  if (known->has_program()) *container.mutable_image_program() = known->program();
  const ml::v1::ReplicaConfig& config = ConfigOf(input, replica.id().type());
  const bool says_what = config.container_command_size() > 0 || config.container_args_size() > 0;
  if (!says_what && !cluster::ModuleOf(input, config).empty()) {
    SetPackage(job, replica.id().type(), program);
    return;
  }
  *container.mutable_command() = config.container_command();
  *container.mutable_args() = says_what ? config.container_args() : ArgsOf(input, config);
  for (std::string& arg : ServiceArgs(job)) container.add_service_args(std::move(arg));
}

replica::v1::Manifest::Program MakeProgram(const v1::JobRecord& job, const v1::ReplicaRecord& replica) {
  replica::v1::Manifest::Program program;
  if (replica.image().empty()) {
    program.set_runtime_version(job.runtime_version());
    SetPackage(job, replica.id().type(), program);
  } else {
    SetContainer(job, replica, program);
  }
  return program;
}

/// A container can use half of its machine's memory as shared memory, like a machine of that size.
replica::v1::Manifest::Limits MakeLimits(const Settings& settings, const v1::JobRecord& job,
                                         const v1::ReplicaRecord& replica) {
  replica::v1::Manifest::Limits limits;
  limits.set_stop_grace_ms(settings.stop_grace.count());
  limits.set_log_bytes(settings.replica_log_bytes_max);
  limits.set_job_log_bytes(settings.job_log_bytes_max);
  if (settings.machine_limits) {
    limits.set_memory_bytes(replica.memory_bytes());
    limits.set_cpus(replica.cpus());
  }
  limits.set_pids(kReplicaPidsMax);
  if (replica.image().empty()) return limits;
  limits.set_shared_memory_bytes(limits.memory_bytes() / 2);
  const ml::v1::DiskConfig& disk = ConfigOf(job.job().training_input(), replica.id().type()).disk_config();
  limits.set_disk_bytes(static_cast<std::int64_t>(disk.boot_disk_size_gb()) << 30);
  return limits;
}

/// The names of Vertex AI for the places below a folder.
void SetPlaces(const std::string& folder, replica::v1::Manifest& manifest) {
  auto& variables = *manifest.mutable_environment();
  variables["AIP_MODEL_DIR"] = folder + "/model/";
  variables["AIP_CHECKPOINT_DIR"] = folder + "/checkpoints/";
  variables["AIP_TENSORBOARD_LOG_DIR"] = folder + "/logs/";
}

std::string WithoutSlashes(std::string folder) {
  while (folder.ends_with('/')) folder.pop_back();
  return folder;
}

/// The job-dir of a program that gets no --job-dir, as a variable and for its files, and the places below it.
void SetJobDir(const v1::JobRecord& job, replica::v1::Manifest& manifest) {
  const std::string folder = WithoutSlashes(jobs::JobDirOf(job));
  const bool is_run = job.job().training_input().job_dir_as_variable() && !manifest.vertex_variables();
  if (!is_run || folder.empty()) return;
  manifest.set_work_folder(folder);
  (*manifest.mutable_environment())["TRAINYARD_JOB_DIR"] = folder;
  SetPlaces(folder, manifest);
}

/// Each trial has a folder of its own below the prefix. Replaces the places below a job-dir.
void SetOutputs(const v1::JobRecord& job, replica::v1::Manifest& manifest) {
  std::string folder = WithoutSlashes(job.job().training_input().output_uri_prefix());
  if (!manifest.vertex_variables() || folder.empty()) return;
  if (job.has_trial()) folder += "/" + job.trial().trial_id();
  SetPlaces(folder, manifest);
}

/// Variables of the job replace those of its folder, and variables of the role those of the job. The values
/// of secrets are not in the record: AddSecrets.
void SetVariables(const ml::v1::TrainingInput& input, const ml::v1::ReplicaConfig& config,
                  replica::v1::Manifest& manifest) {
  auto& variables = *manifest.mutable_environment();
  const auto is_replaced = [&config](const std::string& name) {
    return std::ranges::find(config.env(), name, &ml::v1::EnvVar::name) != config.env().end();
  };
  for (const ml::v1::EnvVar& variable : input.env()) {
    if (is_replaced(variable.name())) continue;
    if (variable.secret())
      manifest.add_secrets(variable.name());
    else
      variables[variable.name()] = variable.value();
  }
  for (const ml::v1::EnvVar& variable : config.env()) variables[variable.name()] = variable.value();
}

bool HasVertexVariables(const v1::JobRecord& job) {
  return job.job().training_input().program_variables() == ml::v1::TrainingInput::VERTEX_AI;
}

}  // namespace

std::string AttemptId(const v1::JobRecord& job, int replica, int attempt) {
  return cluster::AttemptId(job.uid(), job.replicas(replica).id(), attempt);
}

int FindReplica(const v1::JobRecord& job, std::string_view task_name) {
  for (int i = 0; i < job.replicas_size(); ++i) {
    if (cluster::TaskName(job.replicas(i).id()) == task_name) return i;
  }
  return -1;
}

engine::AttemptRef AttemptRefOf(const v1::JobRecord& job, int replica, int attempt) {
  const replica::v1::Slot& slot = job.replicas(replica).slot();
  return {.id = AttemptId(job, replica, attempt), .node = slot.node(), .agent = slot.agent()};
}

placement::Gang GangOf(const v1::JobRecord& job) {
  placement::Gang gang;
  gang.uid = job.uid();
  gang.project = job.project();
  gang.creator = job.creator();
  gang.job_id = job.job().job_id();
  gang.region = job.job().training_input().region();
  gang.running_limit = jobs::RunningTimeMax(job);
  gang.queue_deadline = jobs::StartDeadline(job);
  gang.any_gpu = cluster::MeansAnyGpu(job.job().training_input());
  gang.priority = job.job().training_input().scheduling().priority();
  gang.create_time = wire::FromProto(job.job().create_time());
  if (job.job().has_start_time()) gang.start_time = wire::FromProto(job.job().start_time());
  for (const v1::ReplicaRecord& replica : job.replicas()) {
    const v1::ImageRecord* image = FindImage(job, replica);
    gang.replicas.push_back({.machine_type = replica.machine_type(),
                             .cpus = replica.cpus(),
                             .memory_bytes = replica.memory_bytes(),
                             .type = replica.id().type(),
                             .accelerator = replica.accelerators().type(),
                             .accelerator_count = replica.accelerators().count(),
                             .image = image == nullptr ? std::string() : image->reference()});
  }
  return gang;
}

std::string HostNameOf(const v1::JobRecord& job, int replica) {
  if (HasVertexVariables(job)) return cluster::PoolHostName(job.replicas(replica).id(), job.cluster_hash());
  return cluster::HostName(job.replicas(replica).id(), job.cluster_hash(),
                           cluster::UseChief(job.job().training_input(), job.runtime_version()));
}

std::vector<std::string> ServiceArgs(const v1::JobRecord& job) {
  std::vector<std::string> args;
  if (job.has_trial()) args = jobs::TrialFlags(job);
  const std::string job_dir = jobs::JobDirOf(job);
  if (!job_dir.empty() && !job.job().training_input().job_dir_as_variable())
    args.insert(args.end(), {"--job-dir", job_dir});
  return args;
}

replica::v1::Manifest MakeManifest(const Settings& settings, const v1::JobRecord& job, int replica,
                                   int attempt) {
  const v1::ReplicaRecord& record = job.replicas(replica);
  const ml::v1::TrainingInput& input = job.job().training_input();
  replica::v1::Manifest manifest;
  manifest.set_project(job.project());
  manifest.set_job_id(job.job().job_id());
  manifest.set_job_uid(job.uid());
  *manifest.mutable_replica() = record.id();
  manifest.set_attempt(attempt);
  manifest.set_attempt_id(AttemptId(job, replica, attempt));
  manifest.set_token(AttemptToken(settings, manifest.attempt_id()));
  manifest.set_task_name(cluster::TaskName(record.id()));
  if (job.has_trial()) {
    manifest.set_trial_id(job.trial().trial_id());
    std::vector<std::string> tags = jobs::MetricTags(job);
    manifest.set_metric_tag(tags.front());
    manifest.mutable_further_metric_tags()->Add(tags.begin() + 1, tags.end());
  }
  manifest.set_region(input.region());
  *manifest.mutable_program() = MakeProgram(job, record);
  *manifest.mutable_limits() = MakeLimits(settings, job, record);
  manifest.set_host_name(HostNameOf(job, replica));
  manifest.set_job_json(wire::PrintJsonProtoNames(jobs::WithoutOwnFields(input)));
  manifest.set_vertex_variables(HasVertexVariables(job));
  SetJobDir(job, manifest);
  SetOutputs(job, manifest);
  SetVariables(input, ConfigOf(input, record.id().type()), manifest);
  manifest.set_use_chief(cluster::UseChief(input, job.runtime_version()));
  manifest.set_metadata_host_name(MetadataHostName(settings.keys, manifest.attempt_id()));
  return manifest;
}

Status AddSecrets(const jobs::Secrets& values, replica::v1::Manifest& manifest) {
  for (const std::string& name : manifest.secrets()) {
    const auto known = values.find(name);
    if (known == values.end())
      return std::unexpected(NotFound("the value of the secret " + name + " is gone"));
    (*manifest.mutable_environment())[name] = known->second;
  }
  return {};
}

replica::v1::Cluster MakeCluster(const v1::JobRecord& job, const jobs::Observation& seen) {
  replica::v1::Cluster cluster;
  for (int i = 0; i < job.replicas_size(); ++i) {
    const v1::ReplicaRecord& record = job.replicas(i);
    const auto& said = seen.replicas[static_cast<std::size_t>(i)].endpoint;
    replica::v1::Endpoint& endpoint = *cluster.add_endpoints();
    if (said || record.has_endpoint()) {
      endpoint = said ? *said : record.endpoint();
      continue;
    }
    *endpoint.mutable_replica() = record.id();
    endpoint.set_host_name(HostNameOf(job, i));
    endpoint.set_address(record.slot().address());
    endpoint.set_port(record.slot().port());
  }
  return cluster;
}

std::string AttemptToken(const Settings& settings, const std::string& attempt_id) {
  return Mac(settings.keys.attempt, attempt_id);
}

bool IsAttemptToken(const Settings& settings, const std::string& attempt_id, std::string_view token) {
  return IsSame(token, AttemptToken(settings, attempt_id));
}

}  // namespace trainyard::control
