#include <string_view>

#include "cli/commands.h"
#include "engine/agent/run_agent.h"
#include "programs/sandbox/network/connect_guard.h"
#include "replica/keeper/keeper.h"
#include "replica/shell/replica_shell.h"
#include "replica/supervisor/run_replica.h"
#include "server/doctor/doctor.h"
#include "server/options/config_commands.h"
#include "server/options/serve_options.h"
#include "server/serve.h"

int main(int argc, char** argv) {
  std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "serve") return trainyard::server::Serve(argc - 1, argv + 1);
  if (command == "replica") return trainyard::replica::RunReplica(argc - 1, argv + 1);
  if (command == "agent") return trainyard::agent::RunAgent(argc - 1, argv + 1);
  if (command == "keeper") return trainyard::keeper::RunKeeper(argc - 1, argv + 1);
  if (command == trainyard::replica::kConnectGuard)
    return trainyard::replica::RunConnectGuard(argc - 1, argv + 1);
  if (command == "machine-report") return trainyard::server::ReportMachine(argc - 1, argv + 1);
  if (command == "replica-shell") return trainyard::shell::RunReplicaShell(argc - 1, argv + 1);
  return trainyard::RunCommandLine(argc, argv,
                                   {.flags = trainyard::server::DescribeServeFlags,
                                    .check_config = trainyard::server::CheckConfiguration,
                                    .show_config = trainyard::server::ShowConfiguration});
}
