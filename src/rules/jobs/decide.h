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

/// What to do next for a job: the whole policy of docs/lifecycle.md and docs/adr/0005-restart-policy.md.
/// Pure: any thread.
namespace trainyard::jobs {

/// What is known of one replica's current attempt beyond its record. Kept in memory only; a restarted server
/// rebuilds it from the supervisors that connect again and from the exit records of ended ones.
struct ReplicaObservation {
  bool started =
      false;  ///< StartReplica was performed for the current attempt, or its supervisor was found alive
  bool away = false;      ///< its supervisor is not connected
  std::string trouble{};  ///< one sentence: what keeps it from being looked after; empty: nothing
  /// Why the last StartReplica could not be performed; it is tried again. Until there is a phase.
  std::string refused{};
  replica::v1::Phase phase = replica::v1::PHASE_UNSPECIFIED;  ///< as its supervisor reported it
  std::optional<replica::v1::Endpoint> endpoint;              ///< as its supervisor reported it when READY
  std::optional<replica::v1::Progress> progress{};            ///< of its preparation, as last reported
  bool cluster_sent = false;  ///< OpenBarrier was performed on this connection
  bool stop_sent = false;     ///< StopReplica was performed on this connection
  bool hurry_sent = false;    ///< StopReplica was performed with `hurry`
  bool kill_sent = false;
  /// The end of the grace period of the first StopReplica (a short one's `hurry`); kKillAfter counts from it.
  std::optional<SysTime> stop_time;
  std::optional<replica::v1::ExitRecord> exit;  ///< of the current attempt; all of its log lines are stored
};

/// The room of that try was taken back, or will not come.
struct TakenBack {
  int try_number = 0;
  placement::RoomEnd kind = placement::RoomEnd::kLost;
  std::string reason;  ///< one sentence
};

struct Observation {
  std::vector<ReplicaObservation> replicas;  ///< as many and in the same order as JobRecord.replicas
  ImageObservation images;
  int asked_try = 0;                                        ///< ReserveRoom was performed for that try
  std::optional<replica::v1::Grant> grant;                  ///< the engine has answered so
  std::string runtime_version;                              ///< what suits that room; empty: what the job has
  std::optional<TakenBack> taken_back;                      ///< the engine has said so
  std::chrono::milliseconds restart_pause = kRestartPause;  ///< as the operator decided
  std::string disk_full;   ///< why nothing may be started on this disk; empty: it has room
  std::string unrecorded;  ///< why the last event could not be recorded; empty: it was
  std::chrono::milliseconds retry_pause{1'000};  ///< between two looks at a disk that has no room
  /// Of a trial, after MeasureTrial: what its program reported in all.
  std::optional<control::v1::Event::TrialMeasured> measured;
};

/// Record this event (the transition table accepts it), then ask again.
struct AppendEvent {
  control::v1::Event event;  ///< without seq and time: the caller stamps them
};
/// Ask the engine for room for the job's next try.
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
  bool hurry = false;        ///< its supervisor is to kill it at once
  bool kill = false;         ///< the same, and whoever does not hear that is killed from outside
};
/// The grace of a stop, where the operator's is `usual`.
[[nodiscard]] inline std::chrono::milliseconds GraceOf(const StopReplica& stop,
                                                       std::chrono::milliseconds usual) {
  return stop.short_grace ? std::min(usual, kSuccessGrace) : usual;
}
/// StopReplica is being performed.
inline void NoteSent(const StopReplica& stop, ReplicaObservation& seen) {
  seen.stop_sent = true;  // a supervisor that is not connected now is told when it says Hello
  seen.hurry_sent = seen.hurry_sent || stop.hurry;
  seen.kill_sent = seen.kill_sent || stop.kill;
}
/// No replica of the trial runs any more: collect what its program has reported.
struct MeasureTrial {};
/// There is nothing to do before this time unless something new is observed.
struct WakeAt {
  SysTime time;
};
using Action = std::variant<AppendEvent, ResolveImages, ReserveRoom, StartReplica, OpenBarrier, StopReplica,
                            MeasureTrial, WakeAt>;

/// Whether a replica of a job that has room is yet to be started.
[[nodiscard]] bool WaitsToStart(const control::v1::JobRecord& job, const Observation& seen);

/// What to do next. At most one AppendEvent, and it is the last action: the caller performs, records, and
/// asks again. Idempotent: performing the result and asking again with nothing new observed yields at most
/// the same WakeAt. An ended job yields nothing.
[[nodiscard]] std::vector<Action> NextActions(const control::v1::JobRecord& job, const Observation& seen,
                                              SysTime now);

}  // namespace trainyard::jobs
