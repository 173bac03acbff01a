#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "trainyard/control/v1/record.pb.h"

/// What happens to a job when its replicas end. Pure: any thread. Source: docs/adr/0005-restart-policy.md,
/// spec lifecycle.md sections 2 and 3.
namespace trainyard::jobs {

/// The number of restarts of one replica before the whole job is restarted.
inline constexpr int kRestartsMax = 5;
/// The number of restarts of the whole job before it fails.
inline constexpr int kRetriesMax = 3;
/// A replica that was told to stop is killed this long after the end of its grace period (30 s unless the
/// operator configures another), together with its supervisor, which enforces that period itself and then
/// only has to record the end.
inline constexpr std::chrono::seconds kKillAfter{10};
/// The pause before the next start of a replica that could not start because the machine lacked resources.
inline constexpr std::chrono::seconds kShortagePause{5};

/// The time from SIGTERM to SIGKILL for replicas once the job has succeeded: a parameter server never ends by
/// itself, and its further work is not needed. Shorter if the operator's grace period is shorter.
inline constexpr std::chrono::milliseconds kSuccessGrace{5'000};

/// The pause between the end of an attempt and the second restart of its replica, unless the operator
/// configures another.
inline constexpr std::chrono::milliseconds kRestartPause{1'000};
/// The longest pause of all kinds.
inline constexpr std::chrono::milliseconds kRestartPauseMax{60'000};

/// How long a replica waits before its next restart, by the number of restarts so far: not at all, then
/// `first`, then twice as long each time, up to kRestartPauseMax. A killed worker blocks its gang, so it is
/// restarted immediately; a replica that crashes repeatedly must not keep the machine busy.
[[nodiscard]] std::chrono::milliseconds RestartPause(int restarts, std::chrono::milliseconds first);

/// When the replica's next attempt may start; nullopt: it does not wait. A pause that would end more than
/// kRestartPauseMax from now was decided while the machine's clock was ahead, and is over.
[[nodiscard]] std::optional<SysTime> PauseEnd(const control::v1::ReplicaRecord& replica, SysTime now);

/// What a decision on exits needs beside the record.
struct ExitContext {
  SysTime now;
  std::chrono::milliseconds first_pause = kRestartPause;  ///< the operator's
  bool peers_unheard = false;                             ///< as for HeldUntil
};

/// Whether the restart after the replica's exit counts towards kRestartsMax. It does not if the replica did
/// not cause the exit: maintenance, the machine's shutdown, or the machine's lack of resources.
[[nodiscard]] bool CountsAsRestart(const control::v1::ReplicaRecord& replica);

/// The event that follows from the recorded exits: Concluded, RestartDecided or RetryDecided; nullopt if the
/// job continues unchanged. The master decides: its status 0 is success, even if other replicas failed. Until
/// then a permanent failure of any replica fails the job. A replica under maintenance, or ended by its
/// machine (shutdown, stop of the service, logout), restarts immediately; one that could not start because
/// the machine lacked resources restarts after kShortagePause, and that restart does not count.
[[nodiscard]] std::optional<control::v1::Event> DecideOnExits(const control::v1::JobRecord& job,
                                                              ExitContext context);

/// When the first failure that DecideOnExits holds back is judged: SysTime::max() when a peer is heard again;
/// nullopt if none is held back. The other parameters are those of HeldUntil.
[[nodiscard]] std::optional<SysTime> NextJudgement(const control::v1::JobRecord& job, bool peers_unheard);

/// The event that moves one replica to another slot. kNotFound: the job has no such replica (the message
/// lists those that it has); kFailedPrecondition: it is not running, or is being moved already. Pure: any
/// thread.
[[nodiscard]] Result<control::v1::Event> MaintenanceOf(const control::v1::JobRecord& job,
                                                       std::string_view task_name);

}  // namespace trainyard::jobs
