#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace trainyard::backup {

/// Creates the directory that a backup is written to, mode 0700, and its parents. No symbolic link is
/// followed, and every directory on the way must belong to root or to this account and must not be writable
/// by others (unless it is sticky, as /tmp is), so nobody can replace it meanwhile. Blocking.
///
/// @param data  the data directory; within it only DATA/backups/NAME is allowed. @param never_below  other
/// directories that jobs read. kInvalidArgument with field "directory": what is wrong with the path.
[[nodiscard]] Status MakeBackupFolder(const std::string& path, const std::string& data,
                                      const std::vector<std::string>& never_below);

/// Checks where a request may have a backup made. @param base  the operator's directory for backups; empty:
/// none is configured.
/// @param by_machine  the caller is root or the server's account, on this machine: any directory is allowed.
/// @return the path without links above `base`. kFailedPrecondition: there is no `base`; kInvalidArgument:
/// `path` is not below it.
[[nodiscard]] Result<std::string> AllowedPlace(const std::string& path, const std::string& base,
                                               bool by_machine);

}  // namespace trainyard::backup
