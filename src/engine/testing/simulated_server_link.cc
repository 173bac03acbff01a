#include "engine/testing/simulated_server_link.h"

#include <algorithm>
#include <string>

namespace trainyard::engine {

bool SimulatedServerLink::Step(Time now) {
  if (connection_ || now < next_try_) return false;
  connection_ = connect_();
  return true;
}

void SimulatedServerLink::Send(FromReplica frame) {
  if (connection_) connection_->Write(std::move(frame));
}

std::optional<ToReplica> SimulatedServerLink::Read(Time now) {
  if (!connection_) return std::nullopt;
  std::optional<ToReplica> frame = connection_->Read(now);
  if (frame) pause_ = replica::kReconnectPauseMin;
  return frame;
}

void SimulatedServerLink::Close() {
  if (connection_) connection_->Drop();
  connection_ = nullptr;
  exit_sent_ = false;
}

void SimulatedServerLink::Lose(Time now) {
  Close();
  next_try_ = now + pause_;
  pause_ = std::min(pause_ * 2, replica::kReconnectPauseMax);
}

void SimulatedServerLink::SendLines(replica::Spool& spool, const replica::v1::ExitRecord* exit) {
  while (connection_) {
    const auto next = spool.TakeNext();
    if (!next || !next->has_value()) break;
    FromReplica frame;
    frame.mutable_log()->ParseFromString(**next);
    Send(std::move(frame));
  }
  if (!connection_ || exit == nullptr || exit_sent_ || !spool.all_sent()) return;
  FromReplica frame;
  *frame.mutable_exit() = *exit;
  Send(std::move(frame));
  exit_sent_ = true;
}

}  // namespace trainyard::engine
