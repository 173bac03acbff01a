#pragma once

#include <chrono>
#include <optional>

#include "base/clock.h"
#include "trainyard/control/v1/record.pb.h"

/// What becomes of a job whose replicas ended. Pure: any thread. Source: docs/adr/0005-restart-policy.md,
/// spec lifecycle.md sections 2 and 3.
namespace trainyard::jobs {

/// How often one replica is started again before the whole job is.
inline constexpr int kRestartsMax = 5;
/// How often the whole job is started again before it fails.
inline constexpr int kRetriesMax = 3;
/// After this long without an end, a replica that was told to stop is told to die. A safety net only: its
/// supervisor keeps the grace period itself (30 s unless the operator says otherwise).
inline constexpr std::chrono::minutes kKillAfter{10};

/// Between the end of an attempt and the second restart of its replica, unless the operator says otherwise.
inline constexpr std::chrono::milliseconds kRestartPause{1'000};
/// No pause is longer.
inline constexpr std::chrono::milliseconds kRestartPauseMax{60'000};

/// How long a replica that was restarted so often waits for the next time: not at all, then `first`, and
/// twice as long each time, up to kRestartPauseMax. A killed worker blocks its gang and comes back at once;
/// what crashes again and again does not keep the machine busy.
[[nodiscard]] std::chrono::milliseconds RestartPause(int restarts, std::chrono::milliseconds first);

/// When it is, and how patient the operator is.
struct RestartTime {
  SysTime now;
  std::chrono::milliseconds first_pause = kRestartPause;
};

/// The event that follows from the recorded exits: Concluded, RestartDecided or RetryDecided; nothing when
/// the job goes on as it is. The master decides: its status 0 is success, whatever the others did. Before
/// that any replica's permanent failure fails the job. A replica under maintenance starts again at once, and
/// that does not count.
[[nodiscard]] std::optional<control::v1::Event> DecideOnExits(const control::v1::JobRecord& job,
                                                              RestartTime time);

}  // namespace trainyard::jobs
