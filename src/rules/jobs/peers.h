#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "trainyard/control/v1/record.pb.h"

/// Decides which replica caused a failure in a job whose replicas depend on each other. A program that loses
/// a peer fails as well (a collective operation ends with an error), and its end may be reported before its
/// peer's. Pure: any thread. Source: docs/adr/0074-a-peers-failure.md, with the table of cases in
/// docs/lifecycle.md.
namespace trainyard::jobs {

/// How long before or after a replica's end its peers' failures can be due to it.
inline constexpr std::chrono::seconds kPeerWindow{60};
/// How long the failure of a replica is held back before it is judged, because the end of the peer that
/// caused it may be reported later.
inline constexpr std::chrono::seconds kHoldBack{5};

/// What made a replica fail that did nothing wrong.
struct FirstCause {
  std::string sentence;    ///< "The replica worker 0 has stopped for maintenance."
  bool uncounted = false;  ///< maintenance or the machine's shutdown: no retry is used up
};

/// The end of the replica's current attempt, to be kept while its next attempt runs. The replica has an exit.
[[nodiscard]] control::v1::FormerEnd FormerEndOf(const control::v1::ReplicaRecord& replica);

/// The end of another replica that explains the failure of `failed`; nullopt if it failed by itself.
/// @param failed  a replica of `job` with an exit.
[[nodiscard]] std::optional<FirstCause> CauseAmongPeers(const control::v1::JobRecord& job,
                                                        const control::v1::ReplicaRecord& failed);

/// Until when the failure must not be judged, because the end of a peer that is still running may explain it;
/// nullopt if it can be judged at any time. SysTime::max(): until the peers' supervisors are heard again.
/// @param peers_unheard  whether the supervisor of another running replica is not connected.
[[nodiscard]] std::optional<SysTime> HeldUntil(const control::v1::JobRecord& job,
                                               const control::v1::ReplicaRecord& failed, bool peers_unheard);

/// Whether the replica takes part in this: masters and workers do, parameter servers and evaluators do not.
[[nodiscard]] bool IsPeer(const control::v1::ReplicaRecord& replica);

}  // namespace trainyard::jobs
