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
  std::int64_t changed_count = 0;  ///< objects that a program modified after the backup had hard-linked them
  std::vector<std::string> changed{};
};

/// Creates a data directory from a backup: copies, so the backup is not changed; verified against its
/// manifest (the databases by digest, other files by number). `data` must not exist, be empty, or contain an
/// unfinished restore. Until everything is on disk it is marked, and no server starts there. Blocks; `tell`
/// is given the name of what is being copied.
///
/// A backup may come from an attacker: only names that a backup uses are read, no link is followed, nothing
/// is written outside of `data`, and no database contains anything that runs by itself
/// (base/sqlite/salvage.h). Its data, such as policies, is trusted.
///
/// Errors: those of ReadManifest and MarkedFolder::Take; kDataLoss: the backup is damaged or incomplete;
/// kFailedPrecondition: it contains what no backup contains.
[[nodiscard]] Result<RestoreReport> RestoreBackup(const std::string& folder, const std::string& data,
                                                  const std::function<void(const std::string& name)>& tell);

}  // namespace trainyard::backup
