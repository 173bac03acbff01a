#pragma once

#include "engine/replica_link.h"
#include "trainyard/replica/v1/replica.pb.h"

/// How the server ends supervisors that are no longer needed: the end of their attempt is recorded, or their
/// job is gone. Loop thread only.
namespace trainyard::control {

/// Call when the attempt's exit and all of its lines are stored (or not wanted): its supervisor may end.
void Dismiss(engine::ReplicaLink& link);

/// Answers the Hello of an orphaned supervisor in that phase: if its program has ended, it is dismissed; if
/// not (which should not happen: its end was recorded without proof), it is told to kill the program first.
void DismissOrphan(engine::ReplicaLink& link, replica::v1::Phase phase);

/// Answers a later frame of an orphaned supervisor: its lines are dropped, its exit is accepted.
void AnswerOrphan(engine::ReplicaLink& link, const engine::FromReplica& frame);

}  // namespace trainyard::control
