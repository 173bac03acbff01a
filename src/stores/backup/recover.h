#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

/// What an operator does about a data directory with damaged or missing databases. Blocking.
namespace trainyard::backup {

struct RecoveredDatabase {
  std::string name;
  std::string aside;                      ///< the path that the damaged one has now
  std::int64_t rows = 0;                  ///< that could be read
  std::vector<std::string> incomplete{};  ///< tables of which something could not be read
  bool is_made_anew = false;              ///< nothing could be read, and the server can do without
};

/// Checks each database of a data directory that no server has. A damaged one is put aside and what can be
/// read of it is taken over; nothing is deleted. Afterwards the next server starts with the jobs that are
/// there, and gives no number out again that anybody knows. kFailedPrecondition: a server has it; kDataLoss:
/// one that no server can do without cannot be read at all.
[[nodiscard]] Result<std::vector<RecoveredDatabase>> RecoverData(
    const std::string& data, const std::function<void(const std::string& name)>& tell);

/// The file that is the operator's word, by RecoverData: the jobs that are there are all there will be.
[[nodiscard]] std::string RecoveredWordFile(const std::string& data);

/// The newest finished backup in the data directory's own folder for them and in `folder`; empty: there is
/// none.
[[nodiscard]] std::string LastBackup(const std::string& data, const std::string& folder);

}  // namespace trainyard::backup
