#include "net/http/connection_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace trainyard::http {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using enum ConnectionPhase;

constexpr PeerKey kNobody{};
constexpr PeerKey kAlice{.uid = 1000};
constexpr PeerKey kBob{.uid = 1001};

/// Connections by name; those that were closed to make room are in `closed`, in order.
class Connections {
 public:
  explicit Connections(ConnectionBudget::Limits limits) : budget(limits) {}

  bool Open(const std::string& name, ConnectionPhase phase = kUnproven, PeerKey peer = kNobody) {
    if (!budget.MakeRoom(peer)) return false;
    seats[name] = budget.Take(peer, [this, name] { closed.push_back(name); });
    seats[name]->SetPhase(phase);
    return true;
  }

  ConnectionBudget budget;
  std::map<std::string, std::unique_ptr<ConnectionSeat>> seats;
  std::vector<std::string> closed;
};

TEST(ConnectionBudget, NobodyIsClosedWhileThereIsRoom) {
  Connections all({.connections_max = 3, .known_peer_max = 3});
  EXPECT_TRUE(all.Open("a") && all.Open("b") && all.Open("c"));
  EXPECT_THAT(all.closed, IsEmpty());
  all.seats.erase("b");
  EXPECT_TRUE(all.Open("d"));
  EXPECT_THAT(all.closed, IsEmpty());
}

TEST(ConnectionBudget, WhoHasProvenNothingGoesFirstAndTheOldestOfThem) {
  Connections all({.connections_max = 6, .known_peer_max = 6});
  all.Open("stream", kStream);
  all.Open("idle", kIdle);
  all.Open("slow", kUnproven);
  all.Open("slower", kUnproven);
  all.Open("busy", kBusy);
  all.Open("kept", kKept);
  for (const char* name : {"1", "2", "3", "4"}) EXPECT_TRUE(all.Open(name, kBusy)) << name;
  EXPECT_THAT(all.closed, ElementsAre("slow", "slower", "idle", "stream"));
  EXPECT_FALSE(all.Open("5")) << "all have a request in flight";
  EXPECT_EQ(all.budget.closed(), 4);
  EXPECT_EQ(all.budget.refused(), 1);
}

TEST(ConnectionBudget, AnIdleOneThatWasUsedLastStaysLongest) {
  Connections all({.connections_max = 3, .known_peer_max = 3});
  for (const char* name : {"a", "b", "c"}) all.Open(name, kIdle);
  all.seats["a"]->SetPhase(kBusy);
  all.seats["a"]->SetPhase(kIdle);
  for (const char* name : {"1", "2", "3"}) all.Open(name, kBusy);
  EXPECT_THAT(all.closed, ElementsAre("b", "c", "a"));
}

TEST(ConnectionBudget, APeerAtItsLimitLosesItsOwn) {
  Connections all({.connections_max = 10, .known_peer_max = 2});
  all.Open("b1", kUnproven, kBob);
  all.Open("n1", kUnproven);
  all.Open("a1", kIdle, kAlice);
  all.Open("a2", kUnproven, kAlice);
  EXPECT_TRUE(all.Open("a3", kBusy, kAlice));
  EXPECT_TRUE(all.Open("a4", kBusy, kAlice));
  EXPECT_THAT(all.closed, ElementsAre("a2", "a1"));
  EXPECT_FALSE(all.Open("a5", kBusy, kAlice)) << "both of hers are busy";
  EXPECT_TRUE(all.Open("b2", kBusy, kBob));
  for (int i = 2; i < 5; ++i)
    EXPECT_TRUE(all.Open("n" + std::to_string(i))) << "nobody's have no limit of their own";
}

TEST(ConnectionBudget, OutOfDescriptorsOneIsClosedInAnyCase) {
  Connections all({.connections_max = 10, .known_peer_max = 10});
  EXPECT_FALSE(all.budget.CloseOne());
  all.Open("busy", kBusy);
  EXPECT_FALSE(all.budget.CloseOne());
  all.Open("idle", kIdle);
  EXPECT_TRUE(all.budget.CloseOne());
  EXPECT_THAT(all.closed, ElementsAre("idle"));
  EXPECT_EQ(all.budget.size(), 1U);
}

TEST(ConnectionBudget, AClosedConnectionsLaterPhasesDoNotCount) {
  Connections all({.connections_max = 1, .known_peer_max = 1});
  all.Open("a", kIdle);
  all.Open("b", kBusy);
  all.seats["a"]->SetPhase(kBusy);
  all.seats["a"]->SetPhase(kIdle);
  EXPECT_FALSE(all.budget.CloseOne());
  all.seats.clear();
  EXPECT_EQ(all.budget.size(), 0U);
}

TEST(ConnectionBudget, AnAddressAtItsLimitLosesItsOwnToo) {
  constexpr PeerKey kFar{.uid = std::nullopt, .network = NetworkPrefix{1}};
  constexpr PeerKey kFarther{.uid = std::nullopt, .network = NetworkPrefix{2}};
  Connections all({.connections_max = 10, .known_peer_max = 2});
  all.Open("other", kUnproven, kFarther);
  all.Open("f1", kIdle, kFar);
  all.Open("f2", kUnproven, kFar);
  EXPECT_TRUE(all.Open("f3", kBusy, kFar));
  EXPECT_TRUE(all.Open("f4", kBusy, kFar));
  EXPECT_THAT(all.closed, ElementsAre("f2", "f1"));
  EXPECT_FALSE(all.Open("f5", kBusy, kFar)) << "both of its own are busy";
  EXPECT_TRUE(all.Open("other2", kBusy, kFarther));
}

Peer Tcp4(std::array<std::uint8_t, 16> bytes) { return {.kind = Peer::Kind::kTcp4, .remote = {bytes, 1}}; }
Peer Tcp6(std::array<std::uint8_t, 16> bytes) { return {.kind = Peer::Kind::kTcp6, .remote = {bytes, 1}}; }

TEST(PeerKeyOf, IsTheAccountElseTheAddressOfAnotherMachine) {
  const Peer far = Tcp4({192, 0, 2, 1});
  EXPECT_EQ(PeerKeyOf(far), PeerKeyOf(Tcp4({192, 0, 2, 1})));
  EXPECT_NE(PeerKeyOf(far), PeerKeyOf(Tcp4({192, 0, 2, 2})));
  EXPECT_TRUE(PeerKeyOf(far).is_known());
  EXPECT_EQ(PeerKeyOf(far), PeerKeyOf(Tcp6({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1})));
  Peer own = far;
  own.uid = 1000;
  EXPECT_EQ(PeerKeyOf(own), kAlice) << "an account's connection by an outer address of this machine";
}

TEST(PeerKeyOf, TakesTheFirst64BitsOfIpv6) {
  const Peer peer = Tcp6({0x20, 1, 0xd, 0xb8, 0, 0, 0, 1, 9, 9, 9, 9, 9, 9, 9, 9});
  EXPECT_EQ(PeerKeyOf(peer), PeerKeyOf(Tcp6({0x20, 1, 0xd, 0xb8, 0, 0, 0, 1, 8, 8})));
  EXPECT_NE(PeerKeyOf(peer), PeerKeyOf(Tcp6({0x20, 1, 0xd, 0xb8, 0, 0, 0, 2, 9, 9, 9, 9, 9, 9, 9, 9})));
}

TEST(PeerKeyOf, MeansNobodyOnLoopback) {
  EXPECT_EQ(PeerKeyOf(Tcp4({127, 0, 0, 1})), kNobody);
  EXPECT_EQ(PeerKeyOf(Tcp4({127, 9, 9, 9})), kNobody);
  EXPECT_EQ(PeerKeyOf(Tcp6({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})), kNobody);
  EXPECT_EQ(PeerKeyOf(Tcp6({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1})), kNobody);
  EXPECT_EQ(PeerKeyOf(Peer{}), kNobody);
  EXPECT_EQ(PeerKeyOf(Peer{.kind = Peer::Kind::kUnix}), kNobody);
}

// Invariants: never more connections than the limit, none refused while one could be closed, and no busy one
// closed.
TEST(ConnectionBudget, HoldsOverAnyHistory) {
  std::mt19937 random(1);
  const auto pick = [&random](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
  };
  Connections all({.connections_max = 20, .known_peer_max = 8});
  std::map<std::string, std::pair<ConnectionPhase, PeerKey>> open;
  for (int step = 0; step < 20'000; ++step) {
    if (pick(3) > 0 && !open.empty()) {
      const auto any = std::next(open.begin(), static_cast<std::ptrdiff_t>(pick(open.size())));
      if (pick(4) == 0) {
        all.seats.erase(any->first);
        open.erase(any);
      } else {
        any->second.first = pick(2) == 0 ? kBusy : static_cast<ConnectionPhase>(pick(5));
        all.seats[any->first]->SetPhase(any->second.first);
      }
      continue;
    }
    const std::string name = std::to_string(step);
    const PeerKey peer = pick(2) == 0 ? kAlice : kNobody;
    const bool let_in = all.Open(name, kUnproven, peer);
    for (const std::string& gone : std::exchange(all.closed, {})) {
      ASSERT_TRUE(open.contains(gone));
      ASSERT_LT(open[gone].first, kBusy);
      open.erase(gone);
      all.seats.erase(gone);
    }
    if (let_in) open[name] = {kUnproven, peer};
    const auto is_hers = [](const auto& item) { return item.second.second == kAlice; };
    const auto can_go = [&](const auto& item) {
      return item.second.first < kBusy && (peer == kNobody || let_in || item.second.second == peer);
    };
    ASSERT_LE(open.size(), 20U);
    ASSERT_LE(std::ranges::count_if(open, is_hers), 8);
    if (!let_in) ASSERT_EQ(std::ranges::count_if(open, can_go), 0);
    ASSERT_EQ(all.budget.size(), open.size());
  }
  EXPECT_GT(all.budget.closed(), 100);
  EXPECT_GT(all.budget.refused(), 0);
}

struct PlanRow {
  std::uint64_t descriptors;
  std::size_t clients;
  std::size_t supervisors;
};

TEST(PlanDescriptors, KeepsRoomForWhatIsNoClient) {
  for (const PlanRow& row : {PlanRow{1'048'576, 10'000, 2'048}, PlanRow{65'536, 10'000, 2'048},
                             PlanRow{4'096, 1'472, 512}, PlanRow{1'024, 320, 128}, PlanRow{64, 16, 8}}) {
    const DescriptorPlan plan = PlanDescriptors(row.descriptors);
    EXPECT_EQ(plan.clients, row.clients) << row.descriptors;
    EXPECT_EQ(plan.supervisors, row.supervisors) << row.descriptors;
  }
}

}  // namespace
}  // namespace trainyard::http
