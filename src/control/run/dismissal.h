#pragma once

#include "engine/replica_link.h"
#include "trainyard/replica/v1/replica.pb.h"

/// How the server gets rid of supervisors that nobody needs any more: their attempt's end is recorded, or
/// their job is gone. Loop thread only.
namespace trainyard::control {

/// The attempt's exit and all of its lines are stored (or not wanted): its supervisor may end.
void Dismiss(engine::ReplicaLink& link);

/// Answers the Hello of an orphaned supervisor in that phase: one that has ended is dismissed, one that still
/// does something (it should not be there: its end was recorded without proof) is told to die first.
void DismissOrphan(engine::ReplicaLink& link, replica::v1::Phase phase);

/// Answers a later frame of an orphaned supervisor: its lines are dropped, its end is welcome.
void AnswerOrphan(engine::ReplicaLink& link, const engine::FromReplica& frame);

}  // namespace trainyard::control
