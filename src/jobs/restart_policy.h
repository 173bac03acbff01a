#pragma once

#include <chrono>
#include <optional>

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

/// The event that follows from the recorded exits: Concluded, RestartDecided or RetryDecided; nothing when
/// the job goes on as it is. The master decides: its status 0 is success, whatever the others did. Before
/// that any replica's permanent failure fails the job.
[[nodiscard]] std::optional<control::v1::Event> DecideOnExits(const control::v1::JobRecord& job);

}  // namespace trainyard::jobs
