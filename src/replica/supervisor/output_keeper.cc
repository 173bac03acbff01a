#include "replica/supervisor/output_keeper.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "base/async/diagnostics.h"
#include "programs/runtimes/daemon_container.h"
#include "replica/supervisor/lifecycle.h"

namespace trainyard::replica {

namespace {

using logging::v2::LogEntry;
using std::chrono::milliseconds;

/// How long lines wait for more, so that a chunk has several; not after a pause.
constexpr milliseconds kBatchWait{5};

/// Limit on the data that waits in memory for the connection.
constexpr std::size_t kQueuedBytesMax = 256 << 10;

}  // namespace

bool OutputKeeper::CanStore() const {
  const bool room = ended_ || spool_.bytes() < limits_.spool_bytes_max;
  return room && !disk_full() && log_.has_room();
}

void OutputKeeper::Step(Time now, bool at_once) {
  if (CanStore()) {
    drop_at_ = Time::max();
    if (log_.allowance().held()) log_.allowance().Release();
  } else if (ended_) {
    drop_at_ = Time::max();
  } else if (!log_.allowance().held()) {
    drop_at_ = std::min(drop_at_, now + limits_.wait_max);
    if (now >= drop_at_) {
      drop_at_ = Time::max();
      log_.allowance().Hold();
    }
  }
  log_.SayDropped(false);
  if (!log_.holds_output()) {
    tick_at_ = Time::max();
  } else if (now >= tick_at_ || tick_at_ == Time::max()) {
    if (tick_at_ != Time::max()) log_.Tick();
    tick_at_ = now + kOutputTick;
  }
  ReleaseEntry(now);
  Flush(now, at_once);
}

void OutputKeeper::ReleaseEntry(Time now) {
  if (!log_.holds_entry()) {
    release_at_ = Time::max();
  } else if (release_at_ == Time::max() || lines_held_ != log_.lines_held()) {
    lines_held_ = log_.lines_held();
    release_at_ = now + (log_.entry_can_be_whole() ? kEntryPause : kUnfinishedPause);
  } else if (now >= release_at_) {
    log_.ReleaseEntry();
    release_at_ = Time::max();
  }
}

void OutputKeeper::Flush(Time now, bool at_once) {
  if (!log_.pending()) return;
  const bool waits_for_disk = disk_full();
  if (waits_for_disk && now < retry_at_) return;
  if (!waits_for_disk && !at_once && log_.has_room() && now < last_flush_ + kBatchWait) return;
  const Status flushed = log_.Flush();
  if (!flushed) {
    if (!waits_for_disk) Diagnose(DiagnosticLevel::kError, flushed.error().message);
    disk_full_since_ = std::min(disk_full_since_, now);
    retry_at_ = now + kDiskRetry;
    return;
  }
  last_flush_ = now;
  if (!waits_for_disk) return;
  const auto waited = std::chrono::duration_cast<milliseconds>(now - disk_full_since_);
  disk_full_since_ = retry_at_ = Time::max();
  log_.Say(LogEntry::WARNING, "The replica's output was delayed by " + std::to_string(waited.count()) +
                                  " ms: its lines could not be written to disk.");
}

OutputKeeper::Time OutputKeeper::deadline() const {
  const Time next = std::min({retry_at_, drop_at_, release_at_, tick_at_});
  return log_.pending() && !disk_full() ? std::min(next, last_flush_ + kBatchWait) : next;
}

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

/// If the disk does not accept the lines, syncing is retried, and then the exit says so, because the kernel
/// reports the error only once.
bool ExitWriter::SyncLines(v1::ExitRecord& exit) {
  const Status synced = spool_.Sync();
  if (!synced) {
    unsynced_ = synced.error().message;
    return false;
  }
  if (unsynced_.empty() || std::exchange(says_unsynced_, true)) return true;
  const std::string why = "Lines of this log may be missing after a loss of power: " + unsynced_;
  exit.set_message(exit.message().empty() ? why : exit.message() + ". " + why);
  log_.Say(LogEntry::WARNING, why + ".");
  return false;  // so that this line is stored as well
}

AttemptEvent ExitWriter::WaitForDisk(const std::string& why) {
  if (std::exchange(diagnosed_, why) != why)
    Diagnose(DiagnosticLevel::kError, "cannot write the exit record: " + why);
  return AttemptEvent::kDiskRefused;
}

AttemptEvent ExitWriter::Write(v1::ExitRecord& exit) {
  // A container whose daemon does not answer may still run: then the attempt has not ended.
  if (const Status removed = RemoveNotedContainers(dir_); !removed) {
    if (!std::exchange(says_container_left_, true))
      log_.Say(LogEntry::WARNING, "The container may still run: " + removed.error().message +
                                      ". The replica ends when the container engine is available again.");
    return AttemptEvent::kContainerLeft;
  }
  if (!SyncLines(exit)) return WaitForDisk(unsynced_);
  exit.set_log_lines(log_.next_line());
  if (const Status written = WriteExit(dir_, exit); !written) return WaitForDisk(written.error().message);
  return AttemptEvent::kRecorded;
}

}  // namespace trainyard::replica
