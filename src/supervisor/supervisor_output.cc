// How the output of the replica's program gets into the spool, and what becomes of it when it cannot.
#include <algorithm>
#include <string>

#include "async/diagnostics.h"
#include "supervisor/supervisor.h"

namespace trainyard::replica {

namespace {

using logging::v2::LogEntry;
using std::chrono::milliseconds;

}  // namespace

bool Supervisor::CanStore() const {
  const bool disk_full = disk_full_since_ != SteadyTime::max();
  const bool room = process_ended_ || setup_.spool.bytes() < setup_.options.spool_bytes_max;
  return room && !disk_full && log_.has_room();
}

bool Supervisor::MayRead() const { return CanStore() || log_.allowance().held(); }

/// Output that cannot be stored holds the program back for a while, then it is dropped.
void Supervisor::StepOutput() {
  if (CanStore()) {
    drop_output_at_ = SteadyTime::max();
    if (log_.allowance().held()) log_.allowance().Release();
  } else if (!log_.allowance().held()) {
    drop_output_at_ = std::min(drop_output_at_, now_ + setup_.options.output_wait_max);
    if (now_ >= drop_output_at_) {
      drop_output_at_ = SteadyTime::max();
      log_.allowance().Hold();
    }
  }
  log_.SayDropped(false);
}

void Supervisor::FlushLog() {
  if (!log_.pending()) return;
  const bool waits_for_disk = disk_full_since_ != SteadyTime::max();
  if (waits_for_disk && now_ < retry_disk_) return;
  if (!waits_for_disk && !ending_ && log_.has_room() && now_ < last_flush_ + kBatchWait) return;
  const Status flushed = log_.Flush();
  if (!flushed) {
    if (!waits_for_disk) Diagnose(DiagnosticLevel::kError, flushed.error().message);
    disk_full_since_ = std::min(disk_full_since_, now_);
    retry_disk_ = now_ + kDiskRetry;
    return;
  }
  last_flush_ = now_;
  if (!waits_for_disk) return;
  const auto waited = std::chrono::duration_cast<milliseconds>(now_ - disk_full_since_);
  disk_full_since_ = retry_disk_ = SteadyTime::max();
  log_.Say(LogEntry::WARNING, "The replica's output was held back for " + std::to_string(waited.count()) +
                                  " ms: its lines could not be written to disk.");
}

}  // namespace trainyard::replica
