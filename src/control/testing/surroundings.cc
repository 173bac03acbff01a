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

SimulationGround::SimulationGround(const std::filesystem::path& scratch) : catalogue(OneRuntime()) {
  std::string pattern = (scratch / "ground.XXXXXX").string();
  folder = ::mkdtemp(pattern.data());
  std::filesystem::create_directories(folder / "buckets" / "packages");
  std::ofstream(folder / "buckets" / "packages" / "trainer.tar.gz") << "a package";
  storage::Buckets::Options options{.data = folder};
  buckets = storage::Buckets::Open(std::move(options), clock_, files).value();
}

SimulationGround::~SimulationGround() {
  buckets.reset();
  files.join();
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

}  // namespace trainyard::control
