#include "programs/runtimes/attempt_uids.h"

#include "programs/runtimes/attempt_processes.h"

namespace trainyard::replica {

std::set<std::uint32_t> FindAttemptUids(const std::string& attempts_dir) {
  std::set<std::uint32_t> uids;
  for (const AttemptProcess& process : FindAttemptProcesses(attempts_dir)) uids.insert(process.uid);
  return uids;
}

}  // namespace trainyard::replica
