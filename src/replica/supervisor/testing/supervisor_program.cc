// The tests' program: as `PROGRAM replica DIR` it is a supervisor whose environments come from the test, as
// `PROGRAM keeper ...` the keeper; otherwise it runs the tests. (Defining main here excludes gtest_main's.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

#include "replica/keeper/keeper.h"
#include "replica/supervisor/run_replica.h"
#include "replica/supervisor/testing/test_programs.h"

int main(int argc, char** argv) {
  using namespace trainyard::replica;
  if (argc > 1 && std::string_view(argv[1]) == "replica") {
    TestPrograms source;
    return RunReplica(argc - 1, argv + 1, source);
  }
  if (argc > 1 && std::string_view(argv[1]) == "keeper")
    return trainyard::keeper::RunKeeper(argc - 1, argv + 1);
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
