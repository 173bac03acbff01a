#include "control/testing/surroundings.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>

#include "base/check.h"

namespace trainyard::control {
namespace {

environment::Catalogue OneRuntime() {
  environment::RuntimeVersion runtime;
  runtime.version = "2.15";
  runtime.pythons = {"3.11"};
  return environment::Catalogue({runtime});
}

boost::asio::awaitable<void> Read(storage::Buckets& buckets, bool& done) {
  const Result<std::string> checksum = co_await storage::Sha256Of(buckets, "packages", "trainer.tar.gz");
  TY_CHECK(checksum.has_value());
  done = true;
}

/// Buckets remember what they have read, and a schedule must not depend on whether it is the first one.
void ReadPackage(storage::Buckets& buckets) {
  boost::asio::io_context loop{1};
  SimulatedTime time(loop, 0);
  time.SetImmediate(true);
  bool done = false;
  boost::asio::co_spawn(loop, Read(buckets, done), boost::asio::detached);
  while (!done) TY_CHECK(loop.poll() != 0);
}

}  // namespace

SimulationGround::SimulationGround(const std::filesystem::path& scratch) : catalogue(OneRuntime()) {
  std::string pattern = (scratch / "ground.XXXXXX").string();
  folder = ::mkdtemp(pattern.data());
  std::filesystem::create_directories(folder / "buckets" / "packages");
  std::ofstream(folder / "buckets" / "packages" / "trainer.tar.gz") << "a package";
  storage::Buckets::Options options{.data = folder};
  buckets = storage::Buckets::Open(std::move(options), clock_, files).value();
  ReadPackage(*buckets);
}

SimulationGround::~SimulationGround() {
  buckets.reset();
  files.join();
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

}  // namespace trainyard::control
