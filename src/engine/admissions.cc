#include "engine/admissions.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "base/check.h"
#include "rules/placement/engine_choice.h"

namespace trainyard::engine {

Admissions::Admissions(boost::asio::any_io_executor loop, Options options)
    : loop_(std::move(loop)), engine_of_(std::move(options.engine_of)) {
  for (const Options::Room& room : options.rooms) {
    lanes_.push_back(std::make_unique<Lane>(room, options.naming));
    room.engine.Tell(Events(*lanes_.back()));
  }
}

Admissions::~Admissions() {
  for (const auto& lane : lanes_) lane->engine.Tell({});
}

/// A callback may release the reservation, so it is copied before it is called.
EngineEvents Admissions::Events(const Lane& lane) {
  return {.on_grant =
              [this](ReservationKey key, Grant grant) {
                const Reservation* found = Find(key);
                if (found != nullptr && found->state == State::kAsked) TellAnswer(key, std::move(grant));
              },
          .on_wait =
              [this](ReservationKey key) {
                const Reservation* found = Find(key);
                if (found == nullptr || found->state != State::kAsked) return;
                if (const auto on_wait = found->events.on_wait) on_wait();
              },
          .on_lost =
              [this](ReservationKey key, Revocation revocation) {
                const Reservation* found = Find(key);
                if (found == nullptr) return;
                if (const auto on_revoked = found->events.on_revoked) on_revoked(std::move(revocation));
              },
          .quotas = &lane.quotas};
}

Admissions::Lane& Admissions::LaneOf(const ReservationRequest& request) const {
  if (lanes_.size() == 1) return *lanes_.front();
  Lane* lane = FindLane(request.granted ? placement::EngineOf(*request.granted) : engine_of_(request.gang));
  TY_CHECK(lane != nullptr);
  return *lane;
}

Admissions::Lane* Admissions::FindLane(std::string_view engine) const {
  const auto found = std::ranges::find(lanes_, engine, [](const auto& lane) { return lane->name; });
  return found == lanes_.end() ? nullptr : found->get();
}

Admissions::Reservation* Admissions::Find(ReservationKey key) {
  const auto found = reservations_.find(key.job_uid);
  return found == reservations_.end() || found->second.request.key != key ? nullptr : &found->second;
}

// --- callers

std::variant<Grant, Pending> Admissions::Reserve(ReservationRequest request, ReservationEvents events) {
  const ReservationKey key = request.key;
  if (const auto former = reservations_.find(key.job_uid);
      former != reservations_.end() && former->second.request.key != key)
    Release(ReservationKey(former->second.request.key));
  const auto [place, is_new] = reservations_.try_emplace(key.job_uid);
  Reservation& reservation = place->second;
  reservation.events = std::move(events);
  if (is_new) {
    reservation.lane = &LaneOf(request);
    if (!reservation.lane->quotas.is_open())
      reservation.demand = reservation.lane->engine.DemandOf(request.gang);
    reservation.request = std::move(request);
  } else if (request.granted) {
    reservation.request.granted = std::move(request.granted);
  }
  if (reservation.request.granted || reservation.state == State::kGranted) {
    SetGranted(reservation);
    return Ask(reservation);
  }
  const placement::Shortage* stop = StopOf(*reservation.lane);
  if (stop == nullptr) return Go(reservation);
  HoldBack(reservation, static_cast<std::int64_t>(waiting_count()));
  TellSoon(key);
  return Pending{stop->reason};
}

bool Admissions::ForgetsWithServer(const placement::Gang& gang) const {
  return !LaneOf({.key = {}, .gang = gang}).engine.has_own_queue();
}

void Admissions::Detach(ReservationKey key) {
  Reservation* reservation = Find(key);
  if (reservation == nullptr) return;
  const bool is_asked = reservation->state == State::kAsked;
  if (reservation->state == State::kGranted || (is_asked && reservation->lane->engine.has_own_queue())) {
    reservation->events = {};
  } else {
    Release(key);
  }
}

void Admissions::Release(ReservationKey key) {
  Reservation* reservation = Find(key);
  if (reservation == nullptr) return;
  Leave(*reservation);
  PlanSoon(*reservation->lane);
  if (reservation->state == State::kGranted) --granted_count_;
  reservations_.erase(key.job_uid);
}

/// The reservation was released before, and with it the name of its engine: all engines are asked, and those
/// without devices of the job do nothing.
void Admissions::Prove(ReservationKey key) {
  for (const auto& lane : lanes_) lane->engine.Prove(key);
}

void Admissions::HoldForOrphan(const AttemptRef& attempt, const std::string& job_id,
                               const replica::v1::Devices& devices) {
  if (Lane* lane = FindLane(placement::EngineOfAgent(attempt.agent)))
    lane->engine.HoldForOrphan(attempt.id, job_id, devices);
}

void Admissions::ProveOrphan(const AttemptRef& attempt) {
  if (Lane* lane = FindLane(placement::EngineOfAgent(attempt.agent))) lane->engine.ProveOrphan(attempt.id);
}

std::optional<placement::Wait> Admissions::WaitOf(ReservationKey key) const {
  const auto found = reservations_.find(key.job_uid);
  if (found == reservations_.end() || found->second.request.key != key) return std::nullopt;
  const Reservation& reservation = found->second;
  if (reservation.state == State::kOverQuota) return reservation.lane->over_quota.WaitOf(key.job_uid);
  if (reservation.state != State::kStopped) return reservation.lane->engine.WaitOf(key);
  const placement::Shortage* why = StopOf(*reservation.lane);
  if (why == nullptr) return std::nullopt;
  return placement::Wait{.position = reservation.position, .reason = why->reason, .unblock = why->unblock};
}

std::vector<std::int64_t> Admissions::Granted() const {
  std::vector<std::int64_t> uids;
  for (const auto& [uid, reservation] : reservations_) {
    if (reservation.state == State::kGranted) uids.push_back(uid);
  }
  return uids;
}

// --- the way to an engine

/// Passes the reservation on; nothing must stop it.
std::variant<Grant, Pending> Admissions::Go(Reservation& reservation) {
  if (!WaitsForQuota(reservation)) return Ask(reservation);
  const std::optional<placement::Wait> wait = WaitOf(reservation.request.key);
  return Pending{wait ? wait->reason : kLookingForRoom};
}

std::variant<Grant, Pending> Admissions::Ask(Reservation& reservation) {
  if (reservation.state != State::kGranted) reservation.state = State::kAsked;
  std::variant<Grant, Pending> answer = reservation.lane->engine.Offer(reservation.request);
  if (std::holds_alternative<Grant>(answer)) SetGranted(reservation);
  return answer;
}

void Admissions::SetGranted(Reservation& reservation) {
  Draw(reservation);
  if (std::exchange(reservation.state, State::kGranted) != State::kGranted) ++granted_count_;
}

/// Takes the reservation out of its engine, its queue and its quotas.
void Admissions::Leave(Reservation& reservation) {
  const ReservationKey key = reservation.request.key;
  Lane& lane = *reservation.lane;
  if (reservation.state == State::kOverQuota) {
    lane.over_quota.Remove(key.job_uid);
  } else if (reservation.state != State::kStopped) {
    lane.engine.Return(key);
  }
  if (std::exchange(reservation.draws, false))
    lane.quotas.Return(reservation.request.gang, reservation.demand);
}

/// Reports the answer. A grant is reported after the reservation counts as granted.
void Admissions::TellAnswer(ReservationKey key, std::variant<Grant, Pending> answer) {
  auto* grant = std::get_if<Grant>(&answer);
  Reservation* found = grant == nullptr ? nullptr : Find(key);
  if (found == nullptr) return;
  SetGranted(*found);
  if (const auto on_grant = found->events.on_grant) on_grant(std::move(*grant));
}

// --- stops

/// The reason that jobs of the lane are told; null: nothing stops them.
const placement::Shortage* Admissions::StopOf(const Lane& lane) const {
  const auto first = stops_.begin();
  if (first == stops_.end() || (first->first == Stop::kTakingOver && lane.engine.has_own_queue()))
    return nullptr;
  return &first->second;
}

void Admissions::Set(Stop stop, placement::Shortage why) {
  const bool is_told = stops_.empty() || stop <= stops_.begin()->first;
  stops_[stop] = std::move(why);
  if (!is_told) return;
  std::int64_t behind_all = 0;
  for (auto& [uid, reservation] : reservations_) {
    if (reservation.state == State::kGranted || StopOf(*reservation.lane) == nullptr) continue;
    const ReservationKey key = reservation.request.key;
    ++behind_all;
    if (reservation.state != State::kStopped) {
      const std::optional<placement::Wait> wait = WaitOf(key);
      HoldBack(reservation, wait && wait->position > 0 ? wait->position : behind_all);
    }
    TellSoon(key);
  }
}

void Admissions::Clear(Stop stop) {
  const bool was_told = !stops_.empty() && stops_.begin()->first == stop;
  stops_.erase(stop);
  if (!was_told) return;
  std::vector<ReservationKey> stopped;
  for (const auto& [uid, reservation] : reservations_) {
    if (reservation.state == State::kStopped) stopped.push_back(reservation.request.key);
  }
  std::int64_t position = 0;
  for (const ReservationKey& key : stopped) {
    Reservation* reservation = Find(key);
    if (reservation == nullptr || reservation->state != State::kStopped) continue;
    if (StopOf(*reservation->lane) == nullptr) {
      TellAnswer(key, Go(*reservation));
    } else {
      reservation->position = ++position;
      TellSoon(key);
    }
  }
}

/// A reservation that is already held back keeps its position.
void Admissions::HoldBack(Reservation& reservation, std::int64_t position) {
  if (reservation.state == State::kStopped && reservation.position > 0) return;
  Leave(reservation);
  reservation.state = State::kStopped;
  reservation.position = position;
}

void Admissions::TellSoon(ReservationKey key) {
  boost::asio::post(loop_, [this, key, alive = std::weak_ptr<bool>(alive_)] {
    const Reservation* found = alive.expired() ? nullptr : Find(key);
    if (found == nullptr || found->state != State::kStopped) return;
    if (const auto on_wait = found->events.on_wait) on_wait();
  });
}

// --- quotas

/// A reservation that the engine kept from a previous server does not wait: it counts against its quotas at
/// once.
bool Admissions::WaitsForQuota(Reservation& reservation) {
  Lane& lane = *reservation.lane;
  if (!lane.engine.has_own_queue() || lane.quotas.is_open() || reservation.draws) return false;
  if (lane.engine.Keeps(reservation.request.key)) {
    Draw(reservation);
    return false;
  }
  if (std::exchange(reservation.state, State::kOverQuota) == State::kOverQuota) return true;
  lane.over_quota.Add(reservation.request.gang, reservation.demand);
  PlanSoon(lane);
  return true;
}

void Admissions::Draw(Reservation& reservation) {
  if (!std::exchange(reservation.draws, true))
    reservation.lane->quotas.Take(reservation.request.gang, reservation.demand);
}

void Admissions::PlanSoon(Lane& lane) {
  if (lane.planning || lane.over_quota.empty()) return;
  lane.planning = true;
  boost::asio::post(loop_, [this, &lane, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) PlanNow(lane);
  });
}

/// Callbacks may reserve and release, so they are only called once the state here is consistent.
void Admissions::PlanNow(Lane& lane) {
  lane.planning = false;
  std::vector<ReservationKey> going;
  for (const std::int64_t uid : lane.over_quota.Go()) {
    Reservation& reservation = reservations_.at(uid);
    reservation.draws = true;
    reservation.state = State::kAsked;
    going.push_back(reservation.request.key);
  }
  for (const ReservationKey& key : going) {
    Reservation* found = Find(key);
    if (found != nullptr && found->state == State::kAsked) TellAnswer(key, Ask(*found));
  }
  for (const std::int64_t uid : lane.over_quota.Changed()) {
    const auto found = reservations_.find(uid);
    if (found == reservations_.end() || found->second.state != State::kOverQuota) continue;
    if (const auto on_wait = found->second.events.on_wait) on_wait();
  }
}

}  // namespace trainyard::engine
