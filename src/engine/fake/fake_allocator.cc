#include "engine/fake/fake_allocator.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

namespace trainyard::engine {

namespace asio = boost::asio;

std::variant<Grant, Pending> FakeAllocator::Reserve(ReservationRequest request, ReservationEvents events) {
  auto found = Find(request.key);
  if (found == reservations_.end()) {
    // A grant on record that this cluster does not know was lost with it.
    const bool is_lost = request.granted.has_value();
    reservations_.push_back({.request = std::move(request), .events = std::move(events)});
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
  } else {
    found->events = std::move(events);
  }
  if (found->grant) return *found->grant;
  return Pending{ReasonOf(*found)};
}

void FakeAllocator::Detach(ReservationKey key) {
  if (const auto found = Find(key); found != reservations_.end()) found->events = {};
}

void FakeAllocator::Release(ReservationKey key) {
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

std::optional<placement::Wait> FakeAllocator::WaitOf(ReservationKey key) const {
  const auto found = Find(key);
  if (found == reservations_.end() || found->grant) return std::nullopt;
  const auto waits = [](const Reservation& one) { return !one.grant; };
  return placement::Wait{.position = 1 + std::count_if(reservations_.begin(), found, waits),
                         .reason = ReasonOf(*found),
                         .unblock = "It starts when the cluster has room."};
}

void FakeAllocator::AddNode(const std::string& node, int replicas) {
  nodes_[node] += replicas;
  PlanSoon();
}

void FakeAllocator::LoseNode(const std::string& node) {
  nodes_.erase(node);
  const auto is_on = [&node](const Slot& slot) { return slot.node() == node; };
  for (auto one = reservations_.begin(); one != reservations_.end();) {
    const auto reservation = one++;
    if (reservation->grant && std::ranges::any_of(reservation->grant->slots(), is_on))
      Revoke(reservation, {.reason = "The node " + node + " is lost."});
  }
}

void FakeAllocator::Revoke(std::int64_t job_uid, const std::string& reason, placement::RoomEnd kind) {
  const auto is_jobs = [job_uid](const Reservation& one) { return one.request.key.job_uid == job_uid; };
  if (const auto found = std::ranges::find_if(reservations_, is_jobs); found != reservations_.end())
    Revoke(found, {.kind = kind, .reason = reason});
}

void FakeAllocator::Revoke(Reservations::iterator reservation, Revocation revocation) {
  auto tell = std::move(reservation->events.on_revoked);
  Release(reservation->request.key);
  asio::post(loop_, [tell = std::move(tell), revocation = std::move(revocation)] {
    if (tell) tell(revocation);
  });
}

void FakeAllocator::Refuse(std::string reason) {
  refusal_ = std::move(reason);
  PlanSoon();
}

void FakeAllocator::DropListeners() {
  for (Reservation& one : reservations_) one.events = {};
}

FakeAllocator::Reservations::iterator FakeAllocator::Find(ReservationKey key) {
  return std::ranges::find_if(reservations_,
                              [key](const Reservation& one) { return one.request.key == key; });
}

FakeAllocator::Reservations::const_iterator FakeAllocator::Find(ReservationKey key) const {
  return std::ranges::find_if(reservations_,
                              [key](const Reservation& one) { return one.request.key == key; });
}

void FakeAllocator::PlanSoon() {
  asio::post(loop_, [this, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) Plan();
  });
}

void FakeAllocator::Plan() {
  bool blocked = !refusal_.empty();
  for (Reservation& one : reservations_) {
    if (one.grant) continue;
    blocked = blocked || !Place(one);
    const std::string reason = one.grant ? "" : ReasonOf(one);
    if (one.grant && one.events.on_grant) one.events.on_grant(*one.grant);
    if (!one.grant && std::exchange(one.said, reason) != reason && one.events.on_wait) one.events.on_wait();
  }
}

/// False: there is no room for the whole gang.
bool FakeAllocator::Place(Reservation& reservation) {
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

std::string FakeAllocator::ReasonOf(const Reservation& reservation) const {
  if (!refusal_.empty()) return refusal_;
  return "Waiting for the cluster: it has no room for " +
         std::to_string(reservation.request.gang.replicas.size()) + " replicas.";
}

}  // namespace trainyard::engine
