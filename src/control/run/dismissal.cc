#include "control/run/dismissal.h"

namespace trainyard::control {

void Dismiss(engine::ReplicaLink& link) {
  engine::ToReplica frame;
  frame.mutable_dismiss();
  link.Send(std::move(frame));
}

void DismissOrphan(engine::ReplicaLink& link, replica::v1::Phase phase) {
  if (phase == replica::v1::ENDED) return Dismiss(link);
  engine::ToReplica frame;
  frame.mutable_stop()->set_reason("The job does not need this replica any more.");
  frame.mutable_stop()->set_kill(true);
  link.Send(std::move(frame));
}

void AnswerOrphan(engine::ReplicaLink& link, const engine::FromReplica& frame) {
  if (frame.has_exit()) return Dismiss(link);
  if (!frame.has_log()) return;
  engine::ToReplica ack;  // without it, its spool never runs empty, and it never ends
  ack.mutable_log_ack()->set_next_line(frame.log().first_line() + frame.log().line_count());
  link.Send(std::move(ack));
}

}  // namespace trainyard::control
