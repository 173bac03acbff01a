#include "engine/agent/node_sockets.h"

#include <gtest/gtest.h>

#include "base/async/random_bytes.h"
#include "rules/placement/plan.h"

namespace trainyard::agent {
namespace {

bool AllFree(int /*port*/) { return true; }

TEST(PortLease, NobodyElseGetsThePort) {
  const auto start = RandomBytes<std::uint32_t>() % 10'000;
  std::optional<PortLease> first = PortLease::Take(start, AllFree);
  ASSERT_TRUE(first);
  const std::optional<PortLease> second = PortLease::Take(start, AllFree);
  ASSERT_TRUE(second);
  EXPECT_NE(first->port(), second->port());
  const int port = first->port();
  first.reset();
  EXPECT_EQ(PortLease::Take(start, AllFree)->port(), port);
}

TEST(PortLease, APortInUseIsPassedOver) {
  const auto start = RandomBytes<std::uint32_t>() % 10'000;
  const int taken = PortLease::Take(start, AllFree)->port();
  EXPECT_NE(PortLease::Take(start, [taken](int port) { return port != taken; })->port(), taken);
  EXPECT_FALSE(PortLease::Take(start, [](int) { return false; }));
}

TEST(PortLease, TheRangeIsRound) {
  const std::uint32_t last = placement::kLeasePortLast - placement::kLeasePortFirst;
  const auto lease = PortLease::Take(last, [](int port) { return port == placement::kLeasePortFirst; });
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->port(), placement::kLeasePortFirst);
}

}  // namespace
}  // namespace trainyard::agent
