#include "rules/jobs/time_limits.h"

#include "base/wire/time.h"

namespace trainyard::jobs {
namespace {

std::optional<SysTime> After(SysTime start, std::chrono::nanoseconds duration) {
  if (duration > SysTime::max() - std::max(start, SysTime{})) return std::nullopt;
  return start + duration;
}

std::chrono::nanoseconds RunningNanoseconds(const ml::v1::Scheduling& scheduling) {
  return scheduling.has_max_running_time() ? wire::FromProto(scheduling.max_running_time())
                                           : kMaxRunningTimeDefault;
}

}  // namespace

std::chrono::seconds RunningTimeMax(const control::v1::JobRecord& job) {
  return std::chrono::ceil<std::chrono::seconds>(RunningNanoseconds(job.job().training_input().scheduling()));
}

std::optional<SysTime> StartDeadline(const control::v1::JobRecord& job) {
  const ml::v1::Scheduling& scheduling = job.job().training_input().scheduling();
  if (job.has_trial() || !scheduling.has_max_wait_time()) return std::nullopt;
  return After(wire::FromProto(job.job().create_time()), wire::FromProto(scheduling.max_wait_time()));
}

std::optional<TimeLimit> NextTimeLimit(const control::v1::JobRecord& job) {
  if (job.has_trial()) return std::nullopt;  // the limits belong to the tuning job
  const ml::v1::Scheduling& scheduling = job.job().training_input().scheduling();
  if (job.has_running_time()) {
    const std::chrono::nanoseconds limit = RunningNanoseconds(scheduling);
    const auto time = After(wire::FromProto(job.running_time()), limit);
    if (!time) return std::nullopt;
    return TimeLimit{*time, "The job ran longer than its maximum running time of " +
                                wire::PrintDuration(limit) +
                                ". Raise scheduling.maxRunningTime to let it run longer."};
  }
  if (!scheduling.has_max_wait_time()) return std::nullopt;
  const std::chrono::nanoseconds limit = wire::FromProto(scheduling.max_wait_time());
  const auto time = StartDeadline(job);
  if (!time) return std::nullopt;
  return TimeLimit{*time, "The job did not start running within its maximum wait time of " +
                              wire::PrintDuration(limit) +
                              ". Raise scheduling.maxWaitTime, or free the resources that it waited for."};
}

std::optional<control::v1::JobRecord> WithoutJumps(const control::v1::JobRecord& job,
                                                   const JumpedSince& jumped_since) {
  if (!jumped_since) return std::nullopt;
  const SysTime since =
      wire::FromProto(job.has_running_time() ? job.running_time() : job.job().create_time());
  const std::chrono::nanoseconds jumped = jumped_since(since);
  if (jumped == std::chrono::nanoseconds{0}) return std::nullopt;
  control::v1::JobRecord moved = job;
  *(job.has_running_time() ? moved.mutable_running_time() : moved.mutable_job()->mutable_create_time()) =
      wire::ToProto(since + jumped);
  return moved;
}

}  // namespace trainyard::jobs
