// The tests' program: as `PROGRAM replica DIR` it is a supervisor whose environments come from the test, as
// `PROGRAM keeper ...` and `PROGRAM starter` what starts supervisors; otherwise it runs the tests. (Defining
// main here excludes gtest_main's.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

#include "replica/keeper/keeper.h"
#include "replica/keeper/starter.h"
#include "replica/supervisor/run_replica.h"
#include "replica/supervisor/testing/test_programs.h"

namespace {

int RunTestReplica(int argc, char** argv) {
  trainyard::replica::TestPrograms source;
  return trainyard::replica::RunReplica(argc, argv, source);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace trainyard::keeper;
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "replica") return RunTestReplica(argc - 1, argv + 1);
  if (command == "keeper") return RunKeeper(argc - 1, argv + 1, RunTestReplica);
  if (command == "starter") return RunStarter(RunTestReplica);
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
