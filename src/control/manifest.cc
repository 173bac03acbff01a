#include "control/manifest.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "cluster/role.h"
#include "cluster/task_name.h"
#include "cluster/tf_config.h"
#include "control/access_token.h"
#include "jobs/trial.h"
#include "wire/json.h"
#include "wire/metadata_host.h"

namespace trainyard::control {

namespace {

const ml::v1::ReplicaConfig& ConfigOf(const ml::v1::TrainingInput& input, replica::v1::TaskType type) {
  for (const cluster::Role& role : cluster::Roles(input))
    if (role.type == type) return role.config;
  return ml::v1::ReplicaConfig::default_instance();
}

template <class Number>
bool ParseNumber(std::string_view text, Number& number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number > 0;
}

void SetPackage(const v1::JobRecord& job, replica::v1::Manifest::Program& program) {
  const ml::v1::TrainingInput& input = job.job().training_input();
  *program.mutable_packages() = job.packages();
  program.set_python_module(input.python_module());
  *program.mutable_args() = input.args();
  for (std::string& arg : ServiceArgs(job)) program.add_args(std::move(arg));
}

/// A job's package is run by the image's Python, unless the role says what to run instead of it: then it has
/// no place in the replica.
void SetContainer(const Settings& settings, const v1::JobRecord& job, const v1::ReplicaRecord& replica,
                  replica::v1::Manifest::Program& program) {
  const ml::v1::TrainingInput& input = job.job().training_input();
  replica::v1::Manifest::Container& container = *program.mutable_container();
  const auto known = std::ranges::find(job.images(), replica.image(), &v1::ImageRecord::image);
  TY_CHECK(known != job.images().end());  // looked up when the job was created
  container.set_image(known->image());
  container.set_reference(known->reference());
  container.set_digest(known->digest());
  container.set_engine(settings.container_engine);
  container.set_engine_address(settings.container_engine_address);
  const ml::v1::ReplicaConfig& config = ConfigOf(input, replica.id().type());
  const bool says_what = config.container_command_size() > 0 || config.container_args_size() > 0;
  if (!says_what && !input.python_module().empty()) {
    SetPackage(job, program);
    return;
  }
  *container.mutable_command() = config.container_command();
  *container.mutable_args() = says_what ? config.container_args() : input.args();
  for (std::string& arg : ServiceArgs(job)) container.add_service_args(std::move(arg));
}

replica::v1::Manifest::Program MakeProgram(const Settings& settings, const v1::JobRecord& job,
                                           const v1::ReplicaRecord& replica) {
  replica::v1::Manifest::Program program;
  if (replica.image().empty()) {
    program.set_runtime_version(job.runtime_version());
    SetPackage(job, program);
  } else {
    SetContainer(settings, job, replica, program);
  }
  return program;
}

/// A container has the memory of its machine for shared memory by half, as a machine of that size has.
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
  const std::int64_t disk_bytes = static_cast<std::int64_t>(disk.boot_disk_size_gb()) << 30;
  if (settings.disk_bytes == 0 || disk_bytes < settings.disk_bytes) limits.set_disk_bytes(disk_bytes);
  return limits;
}

/// In a network of its own a replica has the front on its own loopback, whatever the machine's ports are.
void AddGoogleFront(const Settings& settings, replica::v1::Manifest& manifest) {
  if (!settings.google_front) return;
  const bool isolated = manifest.network() == replica::v1::Manifest::ISOLATED;
  replica::v1::GoogleFront& front = *manifest.mutable_google_front();
  front = *settings.google_front;
  if (isolated) front.set_address("127.0.0.1");
  if (front.address().empty() || (!isolated && !settings.front_metadata)) return;
  front.add_host_names(std::string(wire::kGoogleMetadataHost));
  front.add_host_names(MetadataHostName(settings.keys, manifest.attempt_id()));
}

}  // namespace

std::string AttemptId(const v1::JobRecord& job, int replica, int attempt) {
  return std::to_string(job.uid()) + "-" + cluster::TaskName(job.replicas(replica).id()) + "-" +
         std::to_string(attempt);
}

std::optional<AttemptName> ParseAttemptId(std::string_view text) {
  std::size_t first = text.find('-');
  std::size_t last = text.rfind('-');
  if (first == std::string_view::npos || last <= first + 1) return std::nullopt;
  AttemptName name{.task_name = std::string(text.substr(first + 1, last - first - 1))};
  if (!ParseNumber(text.substr(0, first), name.job_uid) || !ParseNumber(text.substr(last + 1), name.attempt))
    return std::nullopt;
  return name;
}

replica::v1::Manifest BareManifest(const Settings& settings, const std::string& attempt_id) {
  replica::v1::Manifest manifest;
  manifest.set_attempt_id(attempt_id);
  manifest.mutable_places()->set_attempt_dir(settings.attempts_dir + "/" + attempt_id);
  return manifest;
}

std::vector<std::string> ServiceArgs(const v1::JobRecord& job) {
  std::vector<std::string> args;
  if (job.has_trial()) args = jobs::TrialFlags(job);
  const std::string job_dir = job.has_trial() ? jobs::TrialJobDir(job) : job.job().training_input().job_dir();
  if (!job_dir.empty()) args.insert(args.end(), {"--job-dir", job_dir});
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
    manifest.set_metric_tag(jobs::MetricTag(job));
  }
  manifest.set_region(input.region());
  *manifest.mutable_program() = MakeProgram(settings, job, record);
  manifest.mutable_places()->set_attempt_dir(settings.attempts_dir + "/" + manifest.attempt_id());
  manifest.mutable_places()->set_environments_dir(settings.environments_dir);
  manifest.mutable_places()->set_images_dir(settings.images_dir);
  manifest.mutable_places()->set_attach_socket(settings.attach_socket);
  manifest.mutable_places()->set_replica_socket(settings.replica_socket);
  *manifest.mutable_limits() = MakeLimits(settings, job, record);
  manifest.set_network(record.endpoint().port() == kIsolatedPort ? replica::v1::Manifest::ISOLATED
                                                                 : replica::v1::Manifest::HOST);
  manifest.set_address(record.endpoint().address());
  manifest.set_port(record.endpoint().port());
  manifest.set_host_name(record.endpoint().host_name());
  manifest.mutable_environment()->insert(settings.replica_environment.begin(),
                                         settings.replica_environment.end());
  manifest.set_job_json(wire::PrintJsonProtoNames(input));
  if (record.has_devices() && !record.devices().accelerator_type().empty())
    *manifest.mutable_devices() = record.devices();
  manifest.set_use_chief(cluster::UseChief(input, job.runtime_version()));
  if (settings.job_users) *manifest.mutable_users() = BlockOf(*settings.job_users, job.uid());
  AddGoogleFront(settings, manifest);
  return manifest;
}

replica::v1::Cluster MakeCluster(const v1::JobRecord& job) {
  replica::v1::Cluster cluster;
  for (const v1::ReplicaRecord& record : job.replicas()) *cluster.add_endpoints() = record.endpoint();
  return cluster;
}

std::string AttemptToken(const Settings& settings, const std::string& attempt_id) {
  return Mac(settings.keys.attempt, attempt_id);
}

bool IsAttemptToken(const Settings& settings, const std::string& attempt_id, std::string_view token) {
  return IsSame(token, AttemptToken(settings, attempt_id));
}

}  // namespace trainyard::control
