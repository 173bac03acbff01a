#include "control/run/job_status.h"

#include "base/wire/resource_name.h"
#include "control/run/service_log.h"
#include "engine/engine.h"
#include "rules/cluster/task_name.h"
#include "rules/jobs/job_row.h"
#include "rules/jobs/silence.h"
#include "stores/metrics/series.h"
#include "stores/metrics/usage_history.h"

namespace trainyard::control {

namespace {

replica::v1::Phase PhaseOf(const v1::ReplicaRecord& replica, const KnownOfJob& known, int position) {
  if (replica.has_exit()) return replica::v1::ENDED;
  if (known.seen == nullptr) return replica::v1::PHASE_UNSPECIFIED;
  return known.seen->replicas[static_cast<std::size_t>(position)].phase;
}

void AddProgress(const KnownOfJob& known, int position, v1::JobStatus::Replica& replica) {
  if (known.seen == nullptr || replica.phase() != replica::v1::PREPARING) return;
  const auto& progress = known.seen->replicas[static_cast<std::size_t>(position)].progress;
  if (progress) *replica.mutable_progress() = *progress;
}

/// Adds a sentence if a running program seems to hang.
void AddRemark(const KnownOfJob& known, int position, double cpu_use, v1::JobStatus::Replica& replica) {
  if (known.seen == nullptr || replica.phase() != replica::v1::RUNNING) return;
  const auto& last = known.seen->replicas[static_cast<std::size_t>(position)].last_output;
  if (last) replica.set_remark(jobs::SilenceRemark(known.now - *last, cpu_use));
}

jobs::Waiting WaitForRoom(const std::optional<placement::Wait>& queue) {
  if (!queue)
    return {.cause = "queue", .reason = engine::kLookingForRoom, .unblock = "It continues automatically."};
  return {.cause = queue->is_turn ? jobs::kTurn : "shortage",
          .position = queue->position,
          .reason = queue->reason,
          .unblock = queue->unblock,
          .never = queue->never};
}

}  // namespace

std::optional<jobs::Waiting> WaitingOf(const v1::JobRecord& job, const jobs::Observation& seen,
                                       const std::optional<placement::Wait>& queue,
                                       std::chrono::milliseconds stop_grace) {
  if (auto trouble = jobs::WaitForTrouble(job, seen)) return trouble;
  if (auto ending = jobs::WaitForEnd(job, seen, stop_grace)) return ending;
  std::optional<jobs::Waiting> waiting = jobs::WaitWhilePreparing(job, seen);
  const bool waits_again = job.retrying() && !job.reserved() && queue;
  if (job.job().state() == ml::v1::Job::QUEUED || waits_again) {
    waiting = jobs::WaitForImages(job, seen.images);  // it does not request resources yet
    if (!waiting) waiting = WaitForRoom(queue);
  }
  if (!waiting) return std::nullopt;
  if (const std::string limit = jobs::WaitLimit(job); !limit.empty()) waiting->unblock += " " + limit;
  return waiting;
}

int CountLiving(const v1::JobRecord& job, const jobs::Observation& seen) {
  int living = 0;
  for (int replica = 0; replica < job.replicas_size(); ++replica) {
    const jobs::ReplicaObservation& one = seen.replicas[static_cast<std::size_t>(replica)];
    if (one.started && !one.exit && !job.replicas(replica).has_exit()) ++living;
  }
  return living;
}

v1::JobStatus MakeStatus(const v1::JobRecord& job, const KnownOfJob& known) {
  v1::JobStatus status;
  status.set_name(wire::JobName{job.project(), job.job().job_id()}.ToString());
  status.set_state(job.job().state());
  if (known.waiting) {
    status.mutable_waiting()->set_job_position(known.waiting->position);
    status.mutable_waiting()->set_reason(known.waiting->reason);
    status.mutable_waiting()->set_unblock(known.waiting->unblock);
  }
  for (int i = 0; i < job.replicas_size(); ++i) {
    const v1::ReplicaRecord& record = job.replicas(i);
    v1::JobStatus::Replica& replica = *status.add_replicas();
    replica.set_task_name(cluster::TaskName(record.id()));
    replica.set_machine_type(record.machine_type());
    replica.set_phase(PhaseOf(record, known, i));
    AddProgress(known, i, replica);
    replica.set_attempt(record.attempt());
    replica.set_restarts(record.restarts());
    *replica.mutable_gpus() = record.slot().devices().gpus();
    replica.set_image(record.image());
    if (record.has_exit()) *replica.mutable_exit() = record.exit();
    const auto* latest = known.usage == nullptr
                             ? nullptr
                             : known.usage->Find(LogUid(job), UsageName(job, replica.task_name()));
    double cpu_use = -1;
    if (latest != nullptr) {
      *replica.mutable_usage() = latest->now.usage;
      cpu_use = metrics::CpuUtilization(latest->before ? &*latest->before : nullptr, latest->now.usage);
    }
    AddRemark(known, i, cpu_use, replica);
  }
  status.set_retries(job.retries());
  status.set_runtime_version(job.runtime_version());
  for (const v1::ImageRecord& image : job.images()) {
    v1::JobStatus::Image& shown = *status.add_images();
    shown.set_image(image.image());
    shown.set_reference(image.reference());
    shown.set_digest(image.digest());
    shown.set_size_bytes(image.size_bytes());
  }
  *status.mutable_warnings() = job.warnings();
  if (job.has_submitted_as()) *status.mutable_submitted_as() = jobs::WithoutResource(job.submitted_as());
  if (job.has_running_time()) *status.mutable_running_time() = job.running_time();
  return status;
}

}  // namespace trainyard::control
