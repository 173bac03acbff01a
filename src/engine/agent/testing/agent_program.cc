// The program of the tests: as `PROGRAM agent ...` it is an agent, as `PROGRAM replica DIR` a supervisor
// whose environments come from the test; otherwise it runs the tests. (Defining main here keeps gtest_main's
// out.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

#include "engine/agent/run_agent.h"
#include "replica/keeper/starter.h"
#include "replica/shell/replica_shell.h"
#include "replica/supervisor/run_replica.h"
#include "replica/supervisor/testing/test_programs.h"

namespace {

int RunTestReplica(int argc, char** argv) {
  trainyard::replica::TestPrograms source;
  return trainyard::replica::RunReplica(argc, argv, source);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "agent") return trainyard::agent::RunAgent(argc - 1, argv + 1);
  if (command == "replica") return RunTestReplica(argc - 1, argv + 1);
  if (command == "starter") return trainyard::keeper::RunStarter(RunTestReplica);
  if (command == "replica-shell") return trainyard::shell::RunReplicaShell(argc - 1, argv + 1);
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
