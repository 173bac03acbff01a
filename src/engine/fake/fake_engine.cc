#include "engine/fake/fake_engine.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>
#include <vector>

namespace trainyard::engine {

namespace asio = boost::asio;

void FakeEngine::Tell(EngineEvents events) {
  events_ = std::move(events);
  for (Reservation& one : reservations_) one.requested = false;
}

std::variant<Grant, Pending> FakeEngine::Offer(ReservationRequest request) {
  auto found = Find(request.key);
  if (found != reservations_.end()) found->requested = true;
  if (found == reservations_.end()) {
    // If this cluster does not know a recorded grant, the grant was lost.
    const bool is_lost = request.granted.has_value();
    reservations_.push_back({.request = std::move(request)});
    found = std::prev(reservations_.end());
    if (is_lost) {
      found->grant = found->request.granted;
      found->grant->clear_slots();
      asio::post(loop_, [this, key = found->request.key, alive = std::weak_ptr<bool>(alive_)] {
        if (const auto lost = alive.expired() ? reservations_.end() : Find(key); lost != reservations_.end())
          Revoke(lost, {.reason = "The cluster does not know the reservation any more."});
      });
      return *found->request.granted;
    }
    PlanSoon();
  }
  if (found->grant) return *found->grant;
  return Pending{ReasonOf(*found)};
}

void FakeEngine::Return(ReservationKey key) {
  const auto found = Find(key);
  if (found == reservations_.end()) return;
  if (found->grant) {
    for (const Slot& slot : found->grant->slots()) {
      if (const auto node = nodes_.find(slot.node()); node != nodes_.end()) ++node->second;
    }
  }
  reservations_.erase(found);
  PlanSoon();
}

std::optional<placement::Wait> FakeEngine::WaitOf(ReservationKey key) const {
  const auto found = Find(key);
  if (found == reservations_.end() || found->grant) return std::nullopt;
  const auto waits = [](const Reservation& one) { return !one.grant; };
  return placement::Wait{.position = 1 + std::count_if(reservations_.begin(), found, waits),
                         .reason = ReasonOf(*found),
                         .unblock = "It starts when the cluster has room."};
}

void FakeEngine::AddNode(const std::string& node, int replicas) {
  nodes_[node] += replicas;
  PlanSoon();
}

void FakeEngine::LoseNode(const std::string& node) {
  nodes_.erase(node);
  const auto is_on = [&node](const Slot& slot) { return slot.node() == node; };
  for (auto one = reservations_.begin(); one != reservations_.end();) {
    const auto reservation = one++;
    if (reservation->grant && std::ranges::any_of(reservation->grant->slots(), is_on))
      Revoke(reservation, {.reason = "The node " + node + " is lost."});
  }
}

void FakeEngine::Revoke(std::int64_t job_uid, const std::string& reason, placement::RoomEnd kind) {
  const auto is_jobs = [job_uid](const Reservation& one) { return one.request.key.job_uid == job_uid; };
  if (const auto found = std::ranges::find_if(reservations_, is_jobs); found != reservations_.end())
    Revoke(found, {.kind = kind, .reason = reason});
}

void FakeEngine::Revoke(Reservations::iterator reservation, Revocation revocation) {
  const ReservationKey key = reservation->request.key;
  Return(key);
  asio::post(loop_, [this, key, revocation = std::move(revocation), alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired() && events_.on_lost) events_.on_lost(key, revocation);
  });
}

void FakeEngine::ReturnUnrequested() {
  std::vector<ReservationKey> left;
  for (const Reservation& one : reservations_) {
    if (!one.requested) left.push_back(one.request.key);
  }
  for (const ReservationKey& key : left) Return(key);
}

void FakeEngine::Refuse(std::string reason) {
  refusal_ = std::move(reason);
  PlanSoon();
}

FakeEngine::Reservations::iterator FakeEngine::Find(ReservationKey key) {
  return std::ranges::find_if(reservations_,
                              [key](const Reservation& one) { return one.request.key == key; });
}

FakeEngine::Reservations::const_iterator FakeEngine::Find(ReservationKey key) const {
  return std::ranges::find_if(reservations_,
                              [key](const Reservation& one) { return one.request.key == key; });
}

void FakeEngine::PlanSoon() {
  asio::post(loop_, [this, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) Plan();
  });
}

void FakeEngine::Plan() {
  bool blocked = !refusal_.empty();
  for (Reservation& one : reservations_) {
    if (one.grant) continue;
    blocked = blocked || !Place(one);
    const std::string reason = one.grant ? "" : ReasonOf(one);
    const ReservationKey key = one.request.key;
    if (one.grant && events_.on_grant) events_.on_grant(key, *one.grant);
    if (!one.grant && std::exchange(one.said, reason) != reason && events_.on_wait) events_.on_wait(key);
  }
}

/// Grants the reservation; false: there are not enough free resources for the whole gang.
bool FakeEngine::Place(Reservation& reservation) {
  std::map<std::string, int> nodes = nodes_;
  Grant grant;
  grant.set_try_number(reservation.request.key.try_number);
  for (std::size_t i = 0; i < reservation.request.gang.replicas.size(); ++i) {
    const auto node = std::ranges::find_if(nodes, [](const auto& one) { return one.second > 0; });
    if (node == nodes.end()) return false;
    --node->second;
    Slot& slot = *grant.add_slots();
    slot.set_node(node->first);
    slot.set_network(replica::v1::Manifest::HOST);
    slot.set_address("10.9.0." + std::to_string(next_address_++ % 250));
  }
  nodes_ = std::move(nodes);
  reservation.grant = std::move(grant);
  return true;
}

std::string FakeEngine::ReasonOf(const Reservation& reservation) const {
  if (!refusal_.empty()) return refusal_;
  return "Waiting for the cluster: it has no room for " +
         std::to_string(reservation.request.gang.replicas.size()) + " replicas.";
}

}  // namespace trainyard::engine
