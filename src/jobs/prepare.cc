#include "jobs/prepare.h"

#include <cstdint>

#include "base/check.h"
#include "cluster/role.h"
#include "cluster/scale_tier.h"
#include "jobs/with_defaults.h"
#include "wire/time.h"

namespace trainyard::jobs {
namespace {

using control::v1::JobRecord;
using ml::v1::TrainingInput;

constexpr std::string_view kNoEffect = " is kept and shown, but has no effect on this server.";

void AddReplicas(const TrainingInput& input, JobRecord& record) {
  const auto plans = cluster::Expand(input);
  TY_CHECK(plans.has_value());
  for (const cluster::ReplicaPlan& plan : *plans) {
    control::v1::ReplicaRecord& replica = *record.add_replicas();
    *replica.mutable_id() = plan.id();
    replica.set_machine_type(plan.machine_type);
    replica.set_cpus(plan.vcpus);
    replica.set_memory_bytes(plan.memory_bytes);
  }
}

/// Nothing that a user wrote is ignored in silence.
void AddNotes(const TrainingInput& input, JobRecord& record) {
  const auto note = [&](std::string what) { record.add_notes(what.append(kNoEffect)); };
  if (input.scale_tier() != TrainingInput::CUSTOM) {
    const std::string tier = TrainingInput::ScaleTier_Name(input.scale_tier());
    for (const cluster::Role& role : cluster::Roles(input)) {
      if (role.machine_type.empty()) continue;
      record.add_notes(std::string(role.field) + "_type " + role.machine_type +
                       " has no effect with scale_tier " + tier + ".");
    }
  }
  for (const cluster::Role& role : cluster::Roles(input)) {
    if (role.config.has_disk_config()) note(std::string(role.field) + "_config.disk_config");
  }
  if (!input.network().empty()) note("network " + input.network());
  if (input.has_encryption_config()) note("encryption_config " + input.encryption_config().kms_key_name());
}

}  // namespace

JobRecord MakeRecord(std::string project, const ml::v1::Job& validated, std::string runtime_version,
                     SysTime now) {
  JobRecord record;
  record.set_cluster_hash(ClusterHash(project, validated.job_id()));
  record.set_project(std::move(project));
  record.set_runtime_version(std::move(runtime_version));
  *record.mutable_job() = WithDefaults(validated);
  *record.mutable_job()->mutable_create_time() = wire::ToProto(now);
  AddReplicas(validated.training_input(), record);
  AddNotes(validated.training_input(), record);
  return record;
}

std::string ClusterHash(std::string_view project, std::string_view job_id) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  const auto add = [&hash](char byte) { hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211U; };
  for (char byte : project) add(byte);
  add('/');
  for (char byte : job_id) add(byte);
  constexpr int kDigits = 10;
  std::string text;
  for (int i = 0; i < kDigits; ++i) text += "0123456789abcdef"[(hash >> (60 - 4 * i)) & 15];
  return text;
}

}  // namespace trainyard::jobs
