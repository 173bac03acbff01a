#include "engine/testing/allocator_conformance.h"

#include <optional>
#include <utility>

#include "engine/draining_allocator.h"
#include "engine/fake/fake_allocator.h"
#include "engine/local/local_allocator.h"
#include "engine/testing/loop.h"

namespace trainyard::engine {
namespace {

constexpr int kRoom = 4;  ///< replicas of one CPU each

/// What all worlds have.
class Worlds {
 public:
  void Settle(const WantedRoom&) { loop_.Poll(); }
  static int room() { return kRoom; }

 protected:
  Loop loop_;
};

template <replica::v1::Manifest::Network network>
class LocalWorld : public Worlds {
 public:
  LocalWorld() { Restart(); }
  Allocator& allocator() { return *allocator_; }
  void Restart() {
    LocalAllocator::Options options{
        .capacity = {.mode = placement::Capacity::Mode::kStrict, .cpus = kRoom, .memory_bytes = kRoom},
        .probe = [](int) { return true; },
        .network = network};
    allocator_.emplace(loop_.context.get_executor(), std::move(options));
  }

 private:
  std::optional<LocalAllocator> allocator_;
};

class FakeWorld : public Worlds {
 public:
  FakeWorld() {
    allocator_.AddNode("node-1", kRoom / 2);
    allocator_.AddNode("node-2", kRoom / 2);
  }
  Allocator& allocator() { return allocator_; }
  void Restart() { allocator_.DropListeners(); }

 private:
  FakeAllocator allocator_{loop_.context.get_executor()};
};

/// Passes everything on while nothing drains.
class DrainingWorld : public FakeWorld {
 public:
  Allocator& allocator() { return *draining_; }
  void Restart() {
    FakeWorld::Restart();
    draining_.emplace(loop_.context.get_executor(), FakeWorld::allocator());
  }

 private:
  std::optional<DrainingAllocator> draining_{std::in_place, loop_.context.get_executor(),
                                             FakeWorld::allocator()};
};

using replica::v1::Manifest;
INSTANTIATE_TYPED_TEST_SUITE_P(Local, AllocatorConformance, LocalWorld<Manifest::HOST>);
INSTANTIATE_TYPED_TEST_SUITE_P(LocalIsolated, AllocatorConformance, LocalWorld<Manifest::ISOLATED>);
INSTANTIATE_TYPED_TEST_SUITE_P(Fake, AllocatorConformance, FakeWorld);
INSTANTIATE_TYPED_TEST_SUITE_P(Draining, AllocatorConformance, DrainingWorld);

}  // namespace
}  // namespace trainyard::engine
