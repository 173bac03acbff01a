#include "replica/supervisor/log_sender.h"

#include <cstddef>

#include "base/async/diagnostics.h"
#include "replica/supervisor/lifecycle.h"

namespace trainyard::replica {

namespace {

/// What may wait in memory for the connection.
constexpr std::size_t kQueuedBytesMax = 256 << 10;

}  // namespace

void LogSender::Step(Time now, const v1::ExitRecord* exit) {
  retry_at_ = Time::max();
  while (link_.attached() && link_.queued_bytes() < kQueuedBytesMax) {
    auto next = spool_.TakeNext();
    if (!next) {
      Diagnose(DiagnosticLevel::kError, next.error().message);
      retry_at_ = now + kDiskRetry;
      return;
    }
    if (!next->has_value()) break;
    link_.SendLog(**next);
  }
  if (!link_.attached() || exit == nullptr || exit_sent_ || !spool_.all_sent()) return;
  v1::FromReplica frame;
  *frame.mutable_exit() = *exit;
  link_.Send(frame);
  exit_sent_ = true;
}

void LogSender::Rewind() {
  spool_.Rewind();
  exit_sent_ = false;
}

}  // namespace trainyard::replica
