#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

/// Repairs a data directory with damaged or missing databases, on the operator's request. Blocking.
namespace trainyard::backup {

struct RecoveredDatabase {
  std::string name;
  std::string aside;                      ///< the path to which the damaged one was moved
  std::int64_t rows = 0;                  ///< the rows that could be read
  std::vector<std::string> incomplete{};  ///< tables that could not be read completely
  bool is_made_anew = false;  ///< nothing could be read, and the server can do without the old one
};

/// Checks each database of a data directory that no server is using. A damaged one is moved aside and what
/// can be read of it is copied into a new one; nothing is deleted. The next server starts with the jobs that
/// are left, and never reuses a job number that is known anywhere. kFailedPrecondition: a server is using it;
/// kDataLoss: one that a server needs cannot be read at all.
[[nodiscard]] Result<std::vector<RecoveredDatabase>> RecoverData(
    const std::string& data, const std::function<void(const std::string& name)>& tell);

/// The file by which RecoverData records the operator's confirmation: no more jobs will be found than are
/// there.
[[nodiscard]] std::string RecoveredWordFile(const std::string& data);

/// The newest finished backup, in the data directory's own directory for backups or in `folder`; empty: there
/// is none.
[[nodiscard]] std::string LastBackup(const std::string& data, const std::string& folder);

}  // namespace trainyard::backup
