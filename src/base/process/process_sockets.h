#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <vector>

/// Which processes have which sockets, by the sockets' numbers in /proc/PID/fd. Blocking; any thread.
namespace trainyard {

[[nodiscard]] bool HasSocket(pid_t pid, std::uint32_t socket);

struct FoundOwners {
  std::map<std::uint32_t, pid_t> owners;  ///< which process has a socket: any one that does
  /// Accounts with living processes that this one may not look at: others', and its own where a process has
  /// changed its rights (sshd's, of a tunnel). Empty where all sockets were found.
  std::set<std::uint32_t> unseen_uids{};
};

/// A socket that is not found, and of none of these accounts, is in no process: it is closed, or on its way
/// in a message between two. `first`: processes to look at before all others; if they have the sockets, a
/// look costs a fraction.
[[nodiscard]] FoundOwners FindSocketOwners(std::set<std::uint32_t> sockets,
                                           const std::vector<pid_t>& first = {});

}  // namespace trainyard
