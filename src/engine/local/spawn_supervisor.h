#pragma once

#include <string>
#include <vector>

#include "async/unique_fd.h"
#include "attempt/attempt_dir.h"
#include "base/result.h"

namespace trainyard::engine {

struct SupervisorSpawn {
  std::string program;
  std::vector<std::string> argv;
  replica::AttemptDir dir;
  int lock;          ///< the attempt's, taken; the supervisor gets it
  int secrets = -1;  ///< its standard input (attempt/secret_values.h); -1: none
};

/// Starts the supervisor in a session of its own, with its messages in the attempt's folder and nothing open
/// of ours but the lock. Returns its pidfd: a child of ours, to be reaped. Any thread.
[[nodiscard]] Result<UniqueFd> SpawnSupervisor(const SupervisorSpawn& spawn);

}  // namespace trainyard::engine
