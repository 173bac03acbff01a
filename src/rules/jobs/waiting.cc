#include "rules/jobs/waiting.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/wire/time.h"
#include "rules/cluster/task_name.h"
#include "rules/jobs/restart_policy.h"
#include "rules/jobs/time_limits.h"
#include "rules/jobs/transition_table.h"

namespace trainyard::jobs {
namespace {

using control::v1::JobRecord;
using control::v1::ReplicaRecord;

constexpr std::size_t kNamesMax = 3;  ///< how many replicas a reason names

/// Positions in the record, by the replicas' progress.
struct Progress {
  std::vector<int> paused;    ///< before their next attempt
  std::vector<int> starting;  ///< their supervisor has not reported yet
  std::vector<int> building;  ///< their environment is being built
  std::vector<int> ready;     ///< at the barrier, or beyond
};

Progress ProgressOf(const JobRecord& job, const Observation& seen) {
  TY_CHECK(seen.replicas.size() == static_cast<std::size_t>(job.replicas_size()));
  Progress progress;
  for (int i = 0; i < job.replicas_size(); ++i) {
    const ReplicaRecord& replica = job.replicas(i);
    const replica::v1::Phase phase = seen.replicas[static_cast<std::size_t>(i)].phase;
    if (replica.restarting() && replica.has_not_before()) {
      progress.paused.push_back(i);
    } else if (replica.has_exit() && !replica.restarting()) {
      continue;  // it has ended and will not restart, and nothing waits for it
    } else if (replica.restarting() || phase == replica::v1::PHASE_UNSPECIFIED) {
      progress.starting.push_back(i);
    } else if (phase == replica::v1::PREPARING) {
      progress.building.push_back(i);
    } else {
      progress.ready.push_back(i);
    }
  }
  return progress;
}

/// "master-replica-0", "worker-replica-0, worker-replica-1, worker-replica-2 and 5 more".
std::string Names(const JobRecord& job, const std::vector<int>& replicas) {
  std::string names;
  const std::size_t named = std::min(replicas.size(), kNamesMax);
  for (std::size_t i = 0; i < named; ++i)
    names += (i == 0 ? "" : ", ") + cluster::TaskName(job.replicas(replicas[i]).id());
  if (replicas.size() > named) names += " and " + std::to_string(replicas.size() - named) + " more";
  return names;
}

/// "builds its environment (runtime version 2.15, 2 packages)".
std::string Building(const JobRecord& job, std::size_t replicas) {
  std::string text = replicas == 1 ? "builds its environment" : "build their environment";
  std::vector<std::string> parts;
  if (!job.runtime_version().empty()) parts.push_back("runtime version " + job.runtime_version());
  if (const int packages = job.packages_size(); packages > 0)
    parts.push_back(std::to_string(packages) + (packages == 1 ? " package" : " packages"));
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? " (" : ", ") + parts[i];
  return parts.empty() ? text : text + ")";
}

/// The sentence, with a full stop.
std::string Stopped(std::string text) {
  return text.ends_with('.') || text.ends_with('?') ? text : text + ".";
}

Waiting ForPause(const JobRecord& job, const std::vector<int>& paused) {
  const int first = *std::ranges::min_element(
      paused, {}, [&job](int replica) { return wire::FromProto(job.replicas(replica).not_before()); });
  const ReplicaRecord& replica = job.replicas(first);
  if (replica.exit().shortage())
    return {.cause = "shortage",
            .reason = cluster::TaskName(replica.id()) +
                      " could not be started: " + Stopped(replica.exit().message()),
            .unblock = "It is tried again at " + wire::PrintTime(wire::FromProto(replica.not_before())) +
                       ", and again until it works. Free memory, processes or disk space on the machine."};
  return {.cause = "restart",
          .reason = cluster::TaskName(replica.id()) + " failed and starts again at " +
                    wire::PrintTime(wire::FromProto(replica.not_before())) + " (restart " +
                    std::to_string(replica.restarts()) + " of " + std::to_string(kRestartsMax) + ").",
          .unblock = "It restarts automatically; the job's log has the reason for the failure."};
}

Waiting ForEnvironments(const JobRecord& job, const Progress& progress) {
  const std::string builders = Names(job, progress.building) + " " + Building(job, progress.building.size());
  if (progress.ready.empty()) {
    return {.cause = "environment",
            .reason = builders + ".",
            .unblock = "It starts when the packages are installed; see the job's log for progress."};
  }
  return {.cause = "barrier",
          .reason = Names(job, progress.ready) + (progress.ready.size() == 1 ? " is" : " are") +
                    " ready and waiting at the barrier: " + builders + ".",
          .unblock = "All programs start when all replicas are ready."};
}

/// Why starts were refused; empty: the missing replicas are starting.
std::string WhyRefused(const std::vector<int>& starting, const Observation& seen) {
  for (const int replica : starting) {
    const std::string& why = seen.replicas[static_cast<std::size_t>(replica)].refused;
    if (!why.empty()) return why;
  }
  return "";
}

Waiting ForStarter(const JobRecord& job, const std::vector<int>& starting, const std::string& why) {
  return {.cause = "refused",
          .reason = "The supervisor of " + Names(job, starting) + " cannot be started now: " + Stopped(why),
          .unblock = "The server retries about once a second."};
}

Waiting ForSupervisors(const JobRecord& job, const Progress& progress) {
  Waiting waiting{.cause = "launch",
                  .reason = "Waiting for the supervisor of " + Names(job, progress.starting) + " to start.",
                  .unblock = "It continues automatically."};
  if (!progress.ready.empty()) {
    waiting.cause = "barrier";
    waiting.reason = Names(job, progress.ready) + (progress.ready.size() == 1 ? " is" : " are") +
                     " ready and waiting at the barrier for " + Names(job, progress.starting) + ".";
    waiting.unblock = "All programs start when all replicas are ready.";
  }
  return waiting;
}

Waiting ForJudgement(SysTime time) {
  const bool unheard = time == SysTime::max();
  return {
      .cause = "judgement",
      .reason = std::string("A replica has failed. Whether it failed by itself or because it lost another "
                            "replica is not known yet") +
                (unheard ? ": the server does not hear from all of the others." : "."),
      .unblock = unheard
                     ? "It continues when they are connected again or known to have ended."
                     : "It continues at " + wire::PrintTime(std::chrono::ceil<std::chrono::seconds>(time)) +
                           " at the latest."};
}

}  // namespace

std::optional<Waiting> WaitForEnd(const JobRecord& job, const Observation& seen,
                                  std::chrono::milliseconds stop_grace) {
  if (StageOf(job) != Stage::kFinishing && StageOf(job) != Stage::kCancelling) return std::nullopt;
  std::vector<int> told;
  std::vector<int> killed;
  std::vector<int> away;
  for (int i = 0; i < job.replicas_size(); ++i) {
    if (job.replicas(i).attempt() == 0 || job.replicas(i).has_exit()) continue;
    const ReplicaObservation& replica = seen.replicas[static_cast<std::size_t>(i)];
    (replica.away ? away : replica.kill_sent ? killed : told).push_back(i);
  }
  if (told.empty() && killed.empty() && away.empty()) return std::nullopt;
  StopReplica stop = StopOf(job);
  if (!told.empty())
    stop.reason += " " + Names(job, told) + (told.size() == 1 ? " was" : " were") + " told to end (SIGTERM).";
  if (!killed.empty())
    stop.reason += " " + Names(job, killed) + (killed.size() == 1 ? " has" : " have") +
                   " not ended in time and will be killed.";
  if (!away.empty()) stop.reason += " The server does not hear from " + Names(job, away) + ".";
  const auto grace = std::chrono::floor<std::chrono::seconds>(GraceOf(stop, stop_grace));
  return Waiting{
      .cause = "ending",
      .reason = std::move(stop.reason),
      .unblock = "Processes that still run after " + std::to_string(grace.count()) + " s are killed."};
}

std::optional<Waiting> WaitForTrouble(const JobRecord& job, const Observation& seen) {
  if (StageOf(job) == Stage::kEnded) return std::nullopt;
  if (!seen.unrecorded.empty())
    return Waiting{.cause = "record",
                   .reason = "Changes of the job cannot be stored: " + Stopped(seen.unrecorded),
                   .unblock = "The server retries about once a second."};
  for (const ReplicaObservation& replica : seen.replicas) {
    if (!replica.trouble.empty())
      return Waiting{.cause = "trouble",
                     .reason = replica.trouble,
                     .unblock = "It continues automatically when this is resolved."};
  }
  if (const auto time = HeldFailure(job, seen)) return ForJudgement(*time);
  const Stage stage = StageOf(job);
  const bool starts = stage == Stage::kPreparing || stage == Stage::kRunning;
  if (!starts || seen.disk_full.empty() || !WaitsToStart(job, seen)) return std::nullopt;
  return Waiting{
      .cause = "disk",
      .reason = "A replica waits to be started. " + Stopped(seen.disk_full),
      .unblock =
          "It continues automatically when disk space is free again: remove objects, environments, "
          "images or old jobs (docs/operators.md, Disk)."};
}

std::optional<Waiting> WaitWhilePreparing(const JobRecord& job, const Observation& seen) {
  if (StageOf(job) == Stage::kRetrying && job.job().state() == ml::v1::Job::PREPARING)
    return Waiting{.cause = "retry",
                   .reason = "The whole job restarts: its replicas are being stopped first (it has used " +
                             std::to_string(job.retries()) + " of " + std::to_string(kRetriesMax) +
                             " retries).",
                   .unblock = "It continues when all of them have ended."};
  if (StageOf(job) != Stage::kPreparing) return std::nullopt;
  const Progress progress = ProgressOf(job, seen);
  if (!progress.paused.empty()) return ForPause(job, progress.paused);
  if (!progress.building.empty()) return ForEnvironments(job, progress);
  if (const std::string why = WhyRefused(progress.starting, seen); !why.empty())
    return ForStarter(job, progress.starting, why);
  if (!progress.starting.empty()) return ForSupervisors(job, progress);
  return Waiting{.cause = "start",
                 .reason = "All replicas are ready; their programs are being started.",
                 .unblock = "It continues automatically."};
}

std::optional<Waiting> WaitForImages(const JobRecord& job, const ImageObservation& seen) {
  if (StageOf(job) != Stage::kQueued) return std::nullopt;
  const auto image = std::ranges::find_if(job.images(), IsUnresolved);
  if (image == job.images().end()) return std::nullopt;
  const std::string& why = seen.reason.empty() ? image->unresolved() : seen.reason;
  const std::string within = "within " + std::to_string(kImagePauseMax.count()) + " seconds";
  std::string unblock =
      seen.no_engine
          ? "The server looks for it again " + within + ", and the job continues when it exists."
          : "The server asks its registry again " + within +
                ", after the other jobs that wait for it, and the job continues when it answers. Start the "
                "registry, or load the image from an archive (run: trainyard images load FILE).";
  return Waiting{.cause = "image",
                 .reason = "The image " + image->image() + " is not resolved yet: " + why + ".",
                 .unblock = std::move(unblock)};
}

std::string WaitLimit(const JobRecord& job) {
  if (job.has_running_time() || !job.job().training_input().scheduling().has_max_wait_time()) return "";
  const std::optional<TimeLimit> limit = NextTimeLimit(job);
  if (!limit) return "";
  return "The job is cancelled at " + wire::PrintTime(limit->time) +
         " if it does not run by then (maxWaitTime).";
}

}  // namespace trainyard::jobs
