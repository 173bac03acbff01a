#include "engine/local/forking_starter.h"

#include "base/process/child_process.h"

namespace trainyard::engine {

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
