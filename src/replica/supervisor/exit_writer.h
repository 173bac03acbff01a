#pragma once

#include <string>

#include "programs/attempt/attempt_dir.h"
#include "programs/attempt/spool.h"
#include "programs/lines/log_writer.h"
#include "replica/supervisor/lifecycle.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

/// Brings the end of an attempt to the disk: its lines, then the exit record, before anybody hears of it. One
/// thread.
class ExitWriter {
 public:
  /// All outlive it.
  ExitWriter(const AttemptDir& dir, Spool& spool, LogWriter& log) : dir_(dir), spool_(spool), log_(log) {}

  /// When all lines are in the spool. kRecorded, or kContainerLeft or kDiskRefused: not yet, try again; there
  /// may be further lines. Completes the exit.
  [[nodiscard]] Event Write(v1::ExitRecord& exit);

 private:
  [[nodiscard]] bool SyncLines(v1::ExitRecord& exit);
  Event WaitForDisk(const std::string& why);

  const AttemptDir& dir_;
  Spool& spool_;
  LogWriter& log_;
  bool says_container_left_ = false;
  std::string unsynced_;  ///< why lines may be missing from the disk; empty: they are not
  bool says_unsynced_ = false;
  std::string diagnosed_;  ///< why there is no exit record yet
};

}  // namespace trainyard::replica
