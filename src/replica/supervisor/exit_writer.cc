#include "replica/supervisor/exit_writer.h"

#include <utility>

#include "base/async/diagnostics.h"
#include "programs/runtimes/daemon_container.h"

namespace trainyard::replica {

using logging::v2::LogEntry;

/// A disk that does not take the lines is asked again, and then it is said, as the kernel says it only once.
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
  return false;  // that line as well
}

Event ExitWriter::WaitForDisk(const std::string& why) {
  if (std::exchange(diagnosed_, why) != why)
    Diagnose(DiagnosticLevel::kError, "cannot write the exit record: " + why);
  return Event::kDiskRefused;
}

Event ExitWriter::Write(v1::ExitRecord& exit) {
  // A container whose daemon is away may still run: then the attempt has not ended.
  if (const Status removed = RemoveNotedContainers(dir_); !removed) {
    if (!std::exchange(says_container_left_, true))
      log_.Say(LogEntry::WARNING, "The container may still run: " + removed.error().message +
                                      ". The replica ends when the engine is back.");
    return Event::kContainerLeft;
  }
  if (!SyncLines(exit)) return WaitForDisk(unsynced_);
  exit.set_log_lines(log_.next_line());
  if (const Status written = WriteExit(dir_, exit); !written) return WaitForDisk(written.error().message);
  return Event::kRecorded;
}

}  // namespace trainyard::replica
