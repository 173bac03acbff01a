#include "rules/jobs/prepare.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/check.h"
#include "base/fnv1a.h"
#include "base/text/hex.h"
#include "base/wire/time.h"
#include "rules/cluster/role.h"
#include "rules/cluster/scale_tier.h"
#include "rules/jobs/notes.h"

namespace trainyard::jobs {
namespace {

using control::v1::JobRecord;
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
  for (ml::v1::ParameterSpec& param : *input.mutable_hyperparameters()->mutable_params())
    std::ranges::sort(*param.mutable_discrete_values());
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

}  // namespace trainyard::jobs
