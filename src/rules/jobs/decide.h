#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "rules/jobs/images.h"
#include "rules/jobs/restart_policy.h"
#include "rules/placement/wait.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Decides what to do next for a job: the whole policy of docs/lifecycle.md and
/// docs/adr/0005-restart-policy.md. Pure: any thread.
namespace trainyard::jobs {

/// What is known about one replica's current attempt in addition to its record. Kept in memory only; a
/// restarted server rebuilds it from the supervisors that connect again and from the exit records of ended
/// ones.
struct ReplicaObservation {
  bool started =
      false;  ///< StartReplica was performed for the current attempt, or its supervisor was found alive
  bool away = false;      ///< its supervisor is not connected
  std::string trouble{};  ///< one sentence: why it cannot be managed now; empty: it can
  /// Why the last StartReplica could not be performed; it is retried. Empty once there is a phase.
  std::string refused{};
  replica::v1::Phase phase = replica::v1::PHASE_UNSPECIFIED;  ///< as its supervisor reported it
  std::optional<replica::v1::Endpoint> endpoint;              ///< as its supervisor reported it when READY
  std::optional<replica::v1::Progress> progress{};            ///< of its preparation, from the latest report
  /// When its program last wrote lines, or began to run, as far as this server has seen it.
  std::optional<SysTime> last_output{};
  bool cluster_sent = false;  ///< OpenBarrier was performed on this connection
  bool stop_sent = false;     ///< StopReplica was performed on this connection
  bool hurry_sent = false;    ///< StopReplica was performed with `hurry`
  bool kill_sent = false;
  /// The end of the grace period of the first StopReplica (for a short one, of its `hurry`); kKillAfter
  /// counts from it.
  std::optional<SysTime> stop_time;
  std::optional<replica::v1::ExitRecord> exit;  ///< of the current attempt; all of its log lines are stored
};

/// The resources of a try were revoked, or will not be granted.
struct TakenBack {
  int try_number = 0;
  placement::RoomEnd kind = placement::RoomEnd::kLost;
  std::string reason;  ///< one sentence
};

struct Observation {
  std::vector<ReplicaObservation> replicas;  ///< as many and in the same order as JobRecord.replicas
  ImageObservation images;
  int asked_try = 0;                        ///< the latest try for which ReserveRoom was performed
  std::optional<replica::v1::Grant> grant;  ///< the engine's grant
  std::string runtime_version;              ///< the one that fits the granted resources; empty: the job's
  std::optional<TakenBack> taken_back;      ///< reported by the engine
  std::chrono::milliseconds restart_pause = kRestartPause;  ///< configured by the operator
  std::string disk_full;   ///< why nothing may be started on this disk; empty: it has enough space
  std::string unrecorded;  ///< why the last event could not be recorded; empty: it was recorded
  std::chrono::milliseconds retry_pause{1'000};  ///< between two checks of a full disk
  /// Only for a trial, after MeasureTrial: everything that its program reported.
  std::optional<control::v1::Event::TrialMeasured> measured;
};

/// Record this event (the transition table accepts it), then call NextActions again.
struct AppendEvent {
  control::v1::Event event;  ///< without seq and time: the caller stamps them
};
/// Ask the engine for resources for the job's next try.
struct ReserveRoom {
  int try_number;
};
/// Start the supervisor of the replica's current attempt.
struct StartReplica {
  int replica;  ///< position in JobRecord.replicas
};
/// Send the replica the whole cluster; it then runs user code.
struct OpenBarrier {
  int replica;
};
struct StopReplica {
  int replica = 0;
  std::string reason;        ///< for the replica's log
  bool short_grace = false;  ///< kSuccessGrace
  bool hurry = false;        ///< its supervisor must kill it at once
  bool kill = false;         ///< like `hurry`; a supervisor that does not receive it is killed from outside
};
/// The grace period of a stop, if the operator's is `usual`.
[[nodiscard]] inline std::chrono::milliseconds GraceOf(const StopReplica& stop,
                                                       std::chrono::milliseconds usual) {
  return stop.short_grace ? std::min(usual, kSuccessGrace) : usual;
}
/// How the replicas of a job that has an outcome are stopped.
[[nodiscard]] StopReplica StopOf(const control::v1::JobRecord& job);
/// Records that StopReplica is being performed.
inline void NoteSent(const StopReplica& stop, ReplicaObservation& seen) {
  seen.stop_sent = true;  // a supervisor that is not connected now is told when it says Hello
  seen.hurry_sent = seen.hurry_sent || stop.hurry;
  seen.kill_sent = seen.kill_sent || stop.kill;
}
/// No replica of the trial runs any more: collect what its program has reported.
struct MeasureTrial {};
/// Nothing to do before this time, unless something new is observed.
struct WakeAt {
  SysTime time;
};
using Action = std::variant<AppendEvent, ResolveImages, ReserveRoom, StartReplica, OpenBarrier, StopReplica,
                            MeasureTrial, WakeAt>;

/// Whether the job has its resources but a replica still has to be started.
[[nodiscard]] bool WaitsToStart(const control::v1::JobRecord& job, const Observation& seen);

/// NextJudgement, by what is observed of the peers; nullopt for a job that does not run.
[[nodiscard]] std::optional<SysTime> HeldFailure(const control::v1::JobRecord& job, const Observation& seen);

/// What to do next. At most one AppendEvent, and it is the last action: the caller performs, records, and
/// calls it again. Idempotent: performing the result and calling again without new observations yields at
/// most the same WakeAt. An ended job yields nothing.
[[nodiscard]] std::vector<Action> NextActions(const control::v1::JobRecord& job, const Observation& seen,
                                              SysTime now);

}  // namespace trainyard::jobs
