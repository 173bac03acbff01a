#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "trainyard/control/v1/backup.pb.h"

/// What a data directory says of the backup that it is made of: DATA/restored.json. Blocking; any thread.
namespace trainyard::backup {

/// /etc/machine-id; empty where there is none. Source: machine-id(5).
[[nodiscard]] std::string MachineId();

[[nodiscard]] Status WriteRestoredFrom(const std::string& data, const control::v1::RestoredFrom& from);
/// Nothing: it is made of none, or the file cannot be read.
[[nodiscard]] std::optional<control::v1::RestoredFrom> ReadRestoredFrom(const std::string& data);

/// In which order of changes the data directory counts on (store::JobStore, resume tokens): numbers that were
/// given after a backup are given again by each that is restored from it. 0: it is made of none.
[[nodiscard]] std::int64_t LineageOf(const std::string& data);

/// Where attempts of the same jobs may live that the backup's server started: that one's `attempts` folder,
/// if it is on this machine and another one than this data directory's. Else empty.
[[nodiscard]] std::string FormerAttempts(const std::string& data);

/// Nothing lives there any more: FormerAttempts is empty from now on, whoever uses that folder next.
[[nodiscard]] Status ForgetFormer(const std::string& data);

}  // namespace trainyard::backup
