#include "control/testing/surroundings.h"

#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>

namespace trainyard::control {
namespace {

environment::Catalogue OneRuntime() {
  environment::RuntimeVersion runtime;
  runtime.version = "2.15";
  runtime.pythons = {"3.11"};
  return environment::Catalogue({runtime});
}

}  // namespace

SimulationGround::SimulationGround() : catalogue(OneRuntime()) {
  std::string pattern = (std::filesystem::temp_directory_path() / "simulation.XXXXXX").string();
  folder = ::mkdtemp(pattern.data());
  std::filesystem::create_directories(folder / "buckets" / "packages");
  std::ofstream(folder / "buckets" / "packages" / "trainer.tar.gz") << "a package";
}

SimulationGround::~SimulationGround() {
  files.join();
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

}  // namespace trainyard::control
