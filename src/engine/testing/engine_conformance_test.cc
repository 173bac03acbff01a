#include "engine/testing/engine_conformance.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/fake/fake_engine.h"
#include "engine/local/local_engine.h"
#include "engine/testing/loop.h"

namespace trainyard::engine {
namespace {

constexpr int kRoom = 4;  ///< replicas of one CPU each

/// The common part of all worlds.
class Worlds {
 public:
  void Settle(const WantedRoom&) { loop_.Poll(); }
  static int room() { return kRoom; }
  static bool has_own_networks() { return false; }
  boost::asio::any_io_executor executor() { return loop_.context.get_executor(); }

 protected:
  Loop loop_;
};

template <replica::v1::Manifest::Network network>
class LocalWorld : public Worlds {
 public:
  LocalWorld() { Restart(); }
  static bool has_own_networks() { return network == replica::v1::Manifest::ISOLATED; }
  std::vector<Admissions::Options::Room> Rooms() {
    return {{.name = placement::kLocalEngine, .engine = *engine_}};
  }
  void Restart() {
    LocalEngine::Options options{
        .capacity = {.mode = placement::Capacity::Mode::kStrict, .cpus = kRoom, .memory_bytes = kRoom},
        .probe = [](int) { return true; },
        .network = network};
    engine_.emplace(loop_.context.get_executor(), std::move(options));
  }

 private:
  std::optional<LocalEngine> engine_;
};

class FakeWorld : public Worlds {
 public:
  FakeWorld() {
    engine_.AddNode("node-1", kRoom / 2);
    engine_.AddNode("node-2", kRoom / 2);
  }
  std::vector<Admissions::Options::Room> Rooms() {
    return {{.name = placement::kSlurmEngine, .engine = engine_}};
  }
  void Restart() {}

 protected:
  FakeEngine engine_{loop_.context.get_executor()};
};

/// Quotas that are never used up.
class QuotaWorld : public FakeWorld {
 public:
  std::vector<Admissions::Options::Room> Rooms() {
    return {{.name = placement::kSlurmEngine,
             .engine = engine_,
             .quotas = placement::QuotaGate(quotas_, placement::kSlurmEngine, {})}};
  }

 private:
  const placement::Quotas quotas_ =
      placement::Quotas::Parse(std::vector<std::string>{"project:*:jobs=100"}).value();
};

using replica::v1::Manifest;
INSTANTIATE_TYPED_TEST_SUITE_P(Local, EngineConformance, LocalWorld<Manifest::HOST>);
INSTANTIATE_TYPED_TEST_SUITE_P(LocalIsolated, EngineConformance, LocalWorld<Manifest::ISOLATED>);
INSTANTIATE_TYPED_TEST_SUITE_P(Fake, EngineConformance, FakeWorld);
INSTANTIATE_TYPED_TEST_SUITE_P(Quota, EngineConformance, QuotaWorld);

}  // namespace
}  // namespace trainyard::engine
