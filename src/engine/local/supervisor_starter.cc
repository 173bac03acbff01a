#include "engine/local/supervisor_starter.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "base/async/file.h"
#include "base/process/child_process.h"
#include "base/process/variables.h"
#include "base/systemd/service_variables.h"

namespace trainyard::engine {

Result<SupervisorStreams> OpenStreams(const SupervisorStart& start) {
  SupervisorStreams streams;
  TY_TRY(streams.log, OpenFile(start.dir.SupervisorLog(), O_WRONLY | O_CREAT | O_APPEND, 0600));
  streams.descriptors = {{streams.log.get(), STDOUT_FILENO},
                         {streams.log.get(), STDERR_FILENO},
                         {start.lock, replica::kInheritedLockFd}};
  if (start.secrets >= 0) streams.descriptors.emplace_back(start.secrets, STDIN_FILENO);
  return streams;
}

std::vector<std::string> SupervisorVariables() { return OwnVariables(systemd::WithoutServiceVariables()); }

Result<UniqueFd> ForkingStarter::Start(const SupervisorStart& start) {
  TY_TRY(SupervisorStreams streams, OpenStreams(start));
  SpawnOptions options{.argv = start.argv,
                       .program = start.program,
                       .environment = SupervisorVariables(),
                       .descriptors = std::move(streams.descriptors),
                       .group = ProcessGroup::kSession,
                       .action = "start the supervisor"};
  TY_TRY(ChildProcess supervisor, ChildProcess::Spawn(std::move(options)));
  const pid_t pid = supervisor.pid();
  UniqueFd pidfd = std::move(supervisor).Detach();
  TY_RETURN_IF_ERROR(replica::SignLock(start.lock, pid));
  return pidfd;
}

}  // namespace trainyard::engine
