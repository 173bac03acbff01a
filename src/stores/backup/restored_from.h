#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "trainyard/control/v1/backup.pb.h"

/// The record of the backup from which a data directory was restored: DATA/restored.json. Blocking; any
/// thread.
namespace trainyard::backup {

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
