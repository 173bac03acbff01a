// The program of the tests: as `PROGRAM replica DIR` it is a supervisor whose environments come from the
// test; otherwise it runs the tests. (Defining main here keeps gtest_main's out.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

#include "replica/main.h"
#include "replica/preparation.h"

namespace trainyard::replica {
namespace {

/// A runtime version is a folder of environments_dir with a "bin/python"; "slow" and the like have a
/// "prepare" script that makes it: what it prints is logged, its exit status decides.
std::optional<environment::Environment> Find(const environment::EnvironmentRequest& request) {
  const std::string python = request.environments_dir + "/" + request.runtime_version + "/bin/python";
  if (!std::filesystem::exists(python)) return std::nullopt;
  return environment::Environment{.python = python, .variables = {{"FROM_ENVIRONMENT", "yes"}}};
}

Result<environment::Environment> Prepare(const environment::EnvironmentRequest& request,
                                         const environment::PreparationHooks& hooks) {
  const std::string folder = request.environments_dir + "/" + request.runtime_version;
  for (const auto& package : request.packages) {
    hooks.info("Downloading the package: " + package.uri);
    TY_RETURN_IF_ERROR(hooks.download(package.uri, folder + "/package"));
  }
  const int status = std::system((folder + "/prepare").c_str());
  if (status != 0)
    return std::unexpected(FailedPrecondition("pip: No matching distribution found for nosuchpkg"));
  hooks.error("WARNING: pip is old");
  return *Find(request);
}

}  // namespace
}  // namespace trainyard::replica

int main(int argc, char** argv) {
  using namespace trainyard::replica;
  if (argc > 1 && std::string_view(argv[1]) == "replica") {
    const EnvironmentSource source{.find = Find, .prepare = Prepare};
    return RunReplica(argc - 1, argv + 1, source);
  }
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
