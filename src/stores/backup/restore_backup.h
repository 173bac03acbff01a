#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trainyard/control/v1/backup.pb.h"

namespace trainyard::backup {

struct RestoreReport {
  control::v1::BackupManifest manifest;
  std::int64_t files = 0;
  std::int64_t changed_count = 0;  ///< objects that a program wrote into after the backup that linked them
  std::vector<std::string> changed{};
};

/// Makes a data directory of a backup: copies, so the backup stays as it is, verified by its manifest (the
/// databases by digest, the rest by number). `data` must not exist, be empty, or hold an unfinished restore.
/// Until all is on disk it is marked, and no server starts there. Blocks; `tell` gets what is being copied.
///
/// A backup may be an attacker's: only names that a backup makes are read, nothing is followed, nothing is
/// written outside of `data`, and no database has anything that runs by itself (base/sqlite/foreign.h). What
/// it says, such as who may do what, is believed.
///
/// Errors: those of ReadManifest and MarkedFolder::Take; kDataLoss: the backup is damaged or not whole;
/// kFailedPrecondition: it holds what no backup holds.
[[nodiscard]] Result<RestoreReport> RestoreBackup(const std::string& folder, const std::string& data,
                                                  const std::function<void(const std::string& name)>& tell);

}  // namespace trainyard::backup
