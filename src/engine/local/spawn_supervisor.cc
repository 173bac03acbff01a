#include "engine/local/spawn_supervisor.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "async/file.h"
#include "process/child_process.h"
#include "process/variables.h"

namespace trainyard::engine {

Result<UniqueFd> SpawnSupervisor(const SupervisorSpawn& spawn) {
  TY_TRY(const UniqueFd log, OpenFile(spawn.dir.SupervisorLog(), O_WRONLY | O_CREAT | O_APPEND, 0600));
  SpawnOptions options{.argv = spawn.argv,
                       .program = spawn.program,
                       .environment = OwnVariables(),
                       .descriptors = {{log.get(), STDOUT_FILENO},
                                       {log.get(), STDERR_FILENO},
                                       {spawn.lock, replica::kInheritedLockFd}},
                       .group = ProcessGroup::kSession,
                       .action = "start the supervisor"};
  if (spawn.secrets >= 0) options.descriptors.emplace_back(spawn.secrets, STDIN_FILENO);
  TY_TRY(ChildProcess supervisor, ChildProcess::Spawn(std::move(options)));
  const pid_t pid = supervisor.pid();
  UniqueFd pidfd = std::move(supervisor).Detach();
  TY_RETURN_IF_ERROR(replica::SignLock(spawn.lock, pid));
  return pidfd;
}

}  // namespace trainyard::engine
