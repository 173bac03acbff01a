#include "engine/testing/allocator_conformance.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/draining_allocator.h"
#include "engine/fake/fake_allocator.h"
#include "engine/local/local_allocator.h"
#include "engine/quota_allocator.h"
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

/// Quotas that are never used up.
class QuotaWorld : public FakeWorld {
 public:
  QuotaWorld() { Restart(); }
  Allocator& allocator() { return *quotas_before_; }
  void Restart() {
    FakeWorld::Restart();
    QuotaAllocator::Options options{.gate = placement::QuotaGate(quotas_, placement::kSlurmEngine, {})};
    quotas_before_.emplace(loop_.context.get_executor(), FakeWorld::allocator(), std::move(options));
  }

 private:
  const placement::Quotas quotas_ =
      placement::Quotas::Parse(std::vector<std::string>{"project:*:jobs=100"}).value();
  std::optional<QuotaAllocator> quotas_before_;
};

using replica::v1::Manifest;
INSTANTIATE_TYPED_TEST_SUITE_P(Local, AllocatorConformance, LocalWorld<Manifest::HOST>);
INSTANTIATE_TYPED_TEST_SUITE_P(LocalIsolated, AllocatorConformance, LocalWorld<Manifest::ISOLATED>);
INSTANTIATE_TYPED_TEST_SUITE_P(Fake, AllocatorConformance, FakeWorld);
INSTANTIATE_TYPED_TEST_SUITE_P(Draining, AllocatorConformance, DrainingWorld);
INSTANTIATE_TYPED_TEST_SUITE_P(Quota, AllocatorConformance, QuotaWorld);

}  // namespace
}  // namespace trainyard::engine
