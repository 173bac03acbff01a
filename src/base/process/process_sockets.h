#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/result.h"

/// Finds processes in /proc, and which have which sockets, by the sockets' inode numbers in /proc/PID/fd.
/// Blocking; any thread.
namespace trainyard {

/// The ids of all processes, in no order. Errors: /proc cannot be read.
[[nodiscard]] Result<std::vector<pid_t>> AllProcesses();

[[nodiscard]] bool HasSocket(pid_t pid, std::uint32_t socket);

struct FoundOwners {
  std::map<std::uint32_t, pid_t> owners;  ///< socket to process; any one of the processes that have it
  /// Accounts with living processes that this process may not inspect: other accounts, and its own if a
  /// process has changed its privileges (sshd for a tunnel). Empty if all sockets were found.
  std::set<std::uint32_t> unseen_uids{};
};

/// Finds the owners of the sockets. A socket that is not found and belongs to none of unseen_uids is in no
/// process: it is closed, or in a message between two. `first`: processes to check before all others; if they
/// have the sockets, the search is much cheaper.
[[nodiscard]] FoundOwners FindSocketOwners(std::set<std::uint32_t> sockets,
                                           const std::vector<pid_t>& first = {});

}  // namespace trainyard
