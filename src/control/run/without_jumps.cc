#include "control/run/without_jumps.h"

#include "base/wire/time.h"

namespace trainyard::control {

std::optional<v1::JobRecord> WithoutJumps(const v1::JobRecord& job, const JumpedSince& jumped_since) {
  if (!jumped_since) return std::nullopt;
  const SysTime since =
      wire::FromProto(job.has_running_time() ? job.running_time() : job.job().create_time());
  const std::chrono::nanoseconds jumped = jumped_since(since);
  if (jumped == std::chrono::nanoseconds{0}) return std::nullopt;
  v1::JobRecord moved = job;
  *(job.has_running_time() ? moved.mutable_running_time() : moved.mutable_job()->mutable_create_time()) =
      wire::ToProto(since + jumped);
  return moved;
}

}  // namespace trainyard::control
