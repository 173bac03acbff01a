#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace trainyard::backup {

/// Makes the folder that a backup is written to, mode 0700, and those above it. No step follows a link, and
/// no folder on the way is another account's than root's and this one's, or others' to write to (but for a
/// sticky one, as /tmp is), so nobody can put another in its place meanwhile. Blocking.
///
/// @param data  the data directory; only DATA/backups/NAME is below it. @param never_below  other folders
/// that jobs read. kInvalidArgument with field "directory": what is wrong with the path.
[[nodiscard]] Status MakeBackupFolder(const std::string& path, const std::string& data,
                                      const std::vector<std::string>& never_below);

/// Where a request may have a backup made. @param base  the operator's folder for them; empty: none is named.
/// @param by_machine  root or the server's account asks, on the machine: anywhere. @return the path without
/// links above `base`. kFailedPrecondition: there is no `base`; kInvalidArgument: `path` is not below it.
[[nodiscard]] Result<std::string> AllowedPlace(const std::string& path, const std::string& base,
                                               bool by_machine);

}  // namespace trainyard::backup
