#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "engine/admissions.h"

/// What every engine does, as callers of Admissions see it: the contract of engine/engine.h as tests. `World`
/// is a default-constructible class with
/// - std::vector<Admissions::Options::Room> Rooms(): the engine, and its quotas;
/// - boost::asio::any_io_executor executor(): of its loop;
/// - void Settle(const WantedRoom& wanted): everything that is ready happens;
/// - int room(): how many replicas of MakeGang can run at once, an even number;
/// - void Restart(): the server is killed, and a new one asks the same engine;
/// - bool has_own_networks(): each gang has a separate network, with the same addresses.
namespace trainyard::engine {

/// Makes a gang of replicas with one CPU each.
inline placement::Gang MakeGang(std::int64_t uid, int replicas) {
  placement::Gang gang;
  gang.uid = uid;
  gang.job_id = "j" + std::to_string(uid);
  gang.replicas.assign(static_cast<std::size_t>(replicas),
                       {.machine_type = "n1-standard-1", .cpus = 1, .memory_bytes = 1});
  return gang;
}

/// A reservation that a test has made and not released.
struct WantedReservation {
  int replicas = 0;
  bool is_detached = false;
  std::optional<Grant> grant{};  ///< from the callback or the return value
};
using WantedRoom = std::map<ReservationKey, WantedReservation>;

template <class World>
class EngineConformance : public testing::Test {
 protected:
  struct Told {
    std::vector<Grant> grants;
    int waits = 0;
    std::vector<std::string> revocations;
  };

  /// Two of these gangs can run at once.
  placement::Gang Small(std::int64_t uid) { return MakeGang(uid, world_.room() / 2); }
  /// A gang that needs all resources.
  placement::Gang Large(std::int64_t uid) { return MakeGang(uid, world_.room()); }

  std::variant<Grant, Pending> Reserve(placement::Gang gang, Told& told, int try_number = 1,
                                       std::optional<Grant> granted = std::nullopt) {
    const ReservationKey key{.job_uid = gang.uid, .try_number = try_number};
    wanted_[key].replicas = static_cast<int>(gang.replicas.size());
    auto answer = admissions_->Reserve(
        {.key = key, .gang = std::move(gang), .granted = std::move(granted)},
        {.on_grant =
             [this, key, &told](Grant grant) {
               if (const auto wanted = wanted_.find(key); wanted != wanted_.end())
                 wanted->second.grant = grant;
               told.grants.push_back(std::move(grant));
             },
         .on_wait = [&told] { ++told.waits; },
         .on_revoked =
             [&told](Revocation revocation) { told.revocations.push_back(std::move(revocation.reason)); }});
    if (const Grant* grant = std::get_if<Grant>(&answer)) wanted_[key].grant = *grant;
    return answer;
  }
  void Detach(std::int64_t uid) {
    const ReservationKey key{.job_uid = uid, .try_number = 1};
    wanted_.at(key).is_detached = true;
    admissions_->Detach(key);
  }
  void Release(std::int64_t uid, int try_number = 1) { Release({.job_uid = uid, .try_number = try_number}); }
  std::optional<placement::Wait> WaitOf(std::int64_t uid, int try_number = 1) {
    return admissions_->WaitOf({.job_uid = uid, .try_number = try_number});
  }
  void Settle() { world_.Settle(wanted_); }
  void Restart() {
    admissions_.reset();
    world_.Restart();
    Begin();
  }
  void SetUp() override { Begin(); }
  /// A cluster outlives its worlds: the next world must find all of its resources free.
  void TearDown() override {
    while (!wanted_.empty()) Release(ReservationKey(wanted_.begin()->first));
    Settle();
  }

  WantedRoom wanted_;
  World world_;
  std::optional<Admissions> admissions_;

 private:
  void Begin() { admissions_.emplace(world_.executor(), Admissions::Options{.rooms = world_.Rooms()}); }
  void Release(const ReservationKey& key) {
    wanted_.erase(key);
    admissions_->Release(key);
    admissions_->Prove(key);
  }
};

TYPED_TEST_SUITE_P(EngineConformance);

TYPED_TEST_P(EngineConformance, GrantsAWholeGangInALaterTurn) {
  typename TestFixture::Told told;
  const auto answer = this->Reserve(this->Small(1), told);
  ASSERT_TRUE(std::holds_alternative<Pending>(answer));
  EXPECT_NE(std::get<Pending>(answer).reason, "");
  EXPECT_TRUE(told.grants.empty()) << "not in the turn of the call";
  this->Settle();
  ASSERT_EQ(told.grants.size(), 1U);
  EXPECT_EQ(told.grants[0].try_number(), 1);
  EXPECT_EQ(told.grants[0].slots_size(), this->world_.room() / 2);
  EXPECT_EQ(this->WaitOf(1), std::nullopt);
}

TYPED_TEST_P(EngineConformance, NoTwoSlotsAreTheSamePlace) {
  typename TestFixture::Told told;
  this->Reserve(this->Small(1), told);
  this->Reserve(this->Small(2), told);
  this->Settle();
  ASSERT_EQ(told.grants.size(), 2U);
  if (this->world_.has_own_networks()) return;  // each gang has a separate network
  std::set<std::tuple<std::string, std::string, int>> places;
  for (const Grant& grant : told.grants) {
    for (const Slot& slot : grant.slots()) places.insert({slot.node(), slot.address(), slot.port()});
  }
  EXPECT_EQ(std::ssize(places), this->world_.room());
}

TYPED_TEST_P(EngineConformance, IsIdempotentByJobAndTry) {
  typename TestFixture::Told first;
  typename TestFixture::Told second;
  this->Reserve(this->Small(1), first);
  this->Reserve(this->Small(1), second);
  this->Settle();
  EXPECT_TRUE(first.grants.empty()) << "whoever asked last is told";
  ASSERT_EQ(second.grants.size(), 1U);
  const auto again = this->Reserve(this->Small(1), first);
  ASSERT_TRUE(std::holds_alternative<Grant>(again));
  EXPECT_EQ(std::get<Grant>(again).SerializeAsString(), second.grants[0].SerializeAsString());
  this->Settle();
  EXPECT_TRUE(first.grants.empty()) << "it was answered";
  EXPECT_EQ(second.grants.size(), 1U);
}

TYPED_TEST_P(EngineConformance, WhoHasNoRoomIsToldWhyAndGetsItWhenItIsReleased) {
  typename TestFixture::Told first;
  typename TestFixture::Told second;
  this->Reserve(this->Large(1), first);
  this->Settle();
  ASSERT_EQ(first.grants.size(), 1U);
  this->Reserve(this->Small(2), second);
  this->Settle();
  EXPECT_TRUE(second.grants.empty());
  EXPECT_GE(second.waits, 1);
  const std::optional<placement::Wait> wait = this->WaitOf(2);
  ASSERT_TRUE(wait);
  EXPECT_EQ(wait->position, 1);
  EXPECT_NE(wait->reason, "");
  EXPECT_NE(wait->unblock, "");
  this->Release(1);
  this->Settle();
  EXPECT_EQ(second.grants.size(), 1U);
}

TYPED_TEST_P(EngineConformance, AGrantOnRecordIsKeptOverServers) {
  typename TestFixture::Told first;
  typename TestFixture::Told second;
  this->Reserve(this->Large(1), first);
  this->Settle();
  ASSERT_EQ(first.grants.size(), 1U);
  this->Restart();
  typename TestFixture::Told again;
  const auto answer = this->Reserve(this->Large(1), again, 1, first.grants[0]);
  this->Reserve(this->Small(2), second);
  this->Settle();
  ASSERT_TRUE(std::holds_alternative<Grant>(answer));
  EXPECT_EQ(std::get<Grant>(answer).SerializeAsString(), first.grants[0].SerializeAsString());
  EXPECT_TRUE(again.revocations.empty());
  EXPECT_TRUE(second.grants.empty()) << "the room is taken";
  this->Release(1);
  this->Settle();
  EXPECT_EQ(second.grants.size(), 1U);
}

TYPED_TEST_P(EngineConformance, NobodyIsToldAfterDetach) {
  typename TestFixture::Told told;
  this->Reserve(this->Small(1), told);
  this->Detach(1);
  this->Settle();
  EXPECT_TRUE(told.grants.empty());
  EXPECT_EQ(told.waits, 0);
}

TYPED_TEST_P(EngineConformance, APendingReservationCanBeReleased) {
  typename TestFixture::Told first;
  typename TestFixture::Told second;
  this->Reserve(this->Large(1), first);
  this->Settle();
  ASSERT_EQ(first.grants.size(), 1U);
  this->Reserve(this->Large(2), second);
  this->Settle();
  this->Release(2);
  this->Release(1);
  this->Settle();
  EXPECT_TRUE(second.grants.empty());
  EXPECT_EQ(this->WaitOf(2), std::nullopt);
  this->Release(77);  // there is none
}

TYPED_TEST_P(EngineConformance, TheNextTryIsAnotherReservation) {
  typename TestFixture::Told first;
  typename TestFixture::Told second;
  this->Reserve(this->Large(1), first);
  this->Settle();
  this->Release(1);
  this->Reserve(this->Large(1), second, 2);
  this->Settle();
  ASSERT_EQ(second.grants.size(), 1U);
  EXPECT_EQ(second.grants[0].try_number(), 2);
  EXPECT_EQ(first.grants.size(), 1U);
}

REGISTER_TYPED_TEST_SUITE_P(EngineConformance, GrantsAWholeGangInALaterTurn, NoTwoSlotsAreTheSamePlace,
                            IsIdempotentByJobAndTry, WhoHasNoRoomIsToldWhyAndGetsItWhenItIsReleased,
                            AGrantOnRecordIsKeptOverServers, NobodyIsToldAfterDetach,
                            APendingReservationCanBeReleased, TheNextTryIsAnotherReservation);

}  // namespace trainyard::engine
