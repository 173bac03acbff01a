#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>

#include "control/collaborators.h"
#include "engine/replica_link.h"
#include "stores/logs/log_store.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Handling of an attempt whose supervisor has ended, or should have. Loop thread; `outside` outlives the
/// calls.
namespace trainyard::control {

/// The exit record of an attempt that was never started.
[[nodiscard]] replica::v1::ExitRecord NotStarted(const Collaborators& outside,
                                                 replica::v1::ExitRecord::Cause cause, std::string why);

/// Call after a failed start: if its supervisor runs nevertheless, it must not run at the same time as the
/// next attempt. Returns when none of its processes is alive, however long that takes; true if there were
/// any. `on_trouble` is told each time why that is delayed.
boost::asio::awaitable<bool> MakeSureItIsDead(const Collaborators& outside, engine::AttemptRef attempt,
                                              std::function<void(std::string)> on_trouble);

/// A supervisor that ended without being dismissed left its last lines and its exit record on disk, if it
/// could: stores the lines that are not stored yet, says in the log what is or may be missing, and returns
/// the rest. If the attempt still runs, or may, waits for its end. Cause LOST if there is no record or it
/// cannot be read. end_time of the exit is set; the chunks are stored and removed from the result.
boost::asio::awaitable<engine::AttemptHost::Remains> CollectRemains(const Collaborators& outside,
                                                                    engine::AttemptRef attempt,
                                                                    logs::LogSource source);

// How the server ends supervisors that are no longer needed: the end of their attempt is recorded, or their
// job is gone. Loop thread only.

/// Call when the attempt's exit and all of its lines are stored (or not wanted): its supervisor may end.
void Dismiss(engine::ReplicaLink& link);

/// Answers the Hello of an orphaned supervisor in that phase: if its program has ended, it is dismissed; if
/// not (which should not happen: its end was recorded without proof), it is told to kill the program first.
void DismissOrphan(engine::ReplicaLink& link, replica::v1::Phase phase);

/// Answers a later frame of an orphaned supervisor: its lines are dropped, its exit is accepted.
void AnswerOrphan(engine::ReplicaLink& link, const engine::FromReplica& frame);

}  // namespace trainyard::control
