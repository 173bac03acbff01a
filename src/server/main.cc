#include <string_view>

#include "agent/run_agent.h"
#include "cli/commands.h"
#include "keeper/run_keeper.h"
#include "sandbox/connect_guard.h"
#include "server/config_commands.h"
#include "server/doctor.h"
#include "server/serve.h"
#include "server/serve_options.h"
#include "shell/replica_shell.h"
#include "supervisor/run_replica.h"

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
