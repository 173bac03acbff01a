#pragma once

#include <chrono>

#include "programs/attempt/spool.h"
#include "replica/supervisor/server_link.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

/// Sends what the spool has to the server that is attached, and after the last line the exit record. One
/// thread.
class LogSender {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Spool and link outlive it.
  LogSender(Spool& spool, ServerLink& link) : spool_(spool), link_(link) {}

  /// `exit`: once it is on disk; until then null. Call in every round.
  void Step(Time now, const v1::ExitRecord* exit);
  /// When Step is to be called although nothing happens: the disk could not be read.
  [[nodiscard]] Time deadline() const noexcept { return retry_at_; }
  /// What is not acknowledged is sent again: to another connection.
  void Rewind();

 private:
  Spool& spool_;
  ServerLink& link_;
  bool exit_sent_ = false;  ///< on this connection
  Time retry_at_ = Time::max();
};

}  // namespace trainyard::replica
