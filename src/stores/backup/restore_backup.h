#pragma once

#include <cstdint>
#include <functional>
#include <optional>
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

// The record of the backup from which a data directory was restored: DATA/restored.json. Blocking; any
// thread.

/// /etc/machine-id; empty if there is none. Source: machine-id(5).
[[nodiscard]] std::string MachineId();

[[nodiscard]] Status WriteRestoredFrom(const std::string& data, const control::v1::RestoredFrom& from);
/// Nothing: it was not restored from a backup, or the file cannot be read.
[[nodiscard]] std::optional<control::v1::RestoredFrom> ReadRestoredFrom(const std::string& data);

/// Identifies the sequence of change numbers of this data directory (store::JobStore, resume tokens): each
/// directory restored from the same backup gives out the same numbers again. 0: it was not restored from a
/// backup.
[[nodiscard]] std::int64_t LineageOf(const std::string& data);

/// The `attempts` directory of the server that was backed up, where attempts of the same jobs may still run:
/// if it is on this machine and not this data directory's. Otherwise empty.
[[nodiscard]] std::string FormerAttempts(const std::string& data);

/// Records that nothing runs there any more: FormerAttempts is empty from now on, even if the directory is
/// used again.
[[nodiscard]] Status ForgetFormer(const std::string& data);

}  // namespace trainyard::backup
