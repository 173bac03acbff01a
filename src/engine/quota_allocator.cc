#include "engine/quota_allocator.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "base/check.h"
#include "rules/placement/device_pool.h"
#include "rules/placement/quota_turns.h"

namespace trainyard::engine {

QuotaAllocator::QuotaAllocator(boost::asio::any_io_executor loop, Allocator& behind, Options options)
    : loop_(std::move(loop)),
      behind_(behind),
      gate_(std::move(options.gate)),
      naming_(options.naming),
      is_behind_(std::move(options.is_behind)) {
  TY_CHECK(behind_.capabilities().own_queue);
}

std::variant<Grant, Pending> QuotaAllocator::Reserve(ReservationRequest request, ReservationEvents events) {
  const ReservationKey key = request.key;
  if (gate_.is_open() || passed_.contains(key)) return behind_.Reserve(std::move(request), std::move(events));
  if (request.granted || (is_behind_ && is_behind_(key))) {
    Forget(key);
    Count(request);
    return behind_.Reserve(std::move(request), std::move(events));
  }
  const auto held = held_.find(key.job_uid);
  if (held != held_.end() && held->second.key == key) {
    held->second.events = std::move(events);
  } else {
    Forget(key);  // an earlier try
    Held one{.key = key, .events = std::move(events), .demand = placement::AskedDemand(request.gang)};
    held_.emplace(key.job_uid, std::move(one));
    queue_.Add(std::move(request.gang));
    PlanSoon();
  }
  const std::optional<placement::Wait> wait = WaitOf(key);
  return Pending{wait ? wait->reason : kLookingForRoom};
}

/// From now on it draws on its quotas.
void QuotaAllocator::Count(const ReservationRequest& request) {
  Passed passed{.gang = request.gang, .demand = placement::AskedDemand(request.gang)};
  gate_.Take(passed.gang, passed.demand);
  passed_.emplace(request.key, std::move(passed));
}

/// This try and those before it, which have lost their room, want none.
void QuotaAllocator::Forget(const ReservationKey& key) {
  held_.erase(key.job_uid);
  queue_.Take(key.job_uid);
  auto passed = passed_.lower_bound({.job_uid = key.job_uid, .try_number = 0});
  while (passed != passed_.end() && passed->first <= key) {
    gate_.Return(passed->second.gang, passed->second.demand);
    passed = passed_.erase(passed);
  }
}

/// What is passed on stays: it is kept behind.
void QuotaAllocator::Detach(ReservationKey key) {
  if (held_.erase(key.job_uid) > 0) {
    queue_.Take(key.job_uid);
    PlanSoon();
  }
  behind_.Detach(key);
}

void QuotaAllocator::Release(ReservationKey key) {
  Forget(key);
  PlanSoon();
  behind_.Release(key);
}

void QuotaAllocator::PlanSoon() {
  if (planning_ || held_.empty()) return;
  planning_ = true;
  boost::asio::post(loop_, [this, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) PlanNow();
  });
}

void QuotaAllocator::PlanNow() {
  planning_ = false;
  std::vector<std::pair<ReservationRequest, ReservationEvents>> going;
  for (const std::int64_t uid : Decide()) {
    auto held = held_.extract(uid);
    const auto passed = passed_.emplace(
        held.mapped().key, Passed{.gang = *queue_.Take(uid), .demand = std::move(held.mapped().demand)});
    going.emplace_back(ReservationRequest{.key = held.mapped().key, .gang = passed.first->second.gang},
                       std::move(held.mapped().events));
  }
  // Whoever is told may ask and release: nothing here is half done by now.
  for (auto& [request, events] : going) {
    if (passed_.contains(request.key)) Ask(std::move(request), std::move(events));
  }
  TellChanges();
}

/// Who goes, in the queue's order; they draw on their quotas already. Notes what the others wait for.
std::vector<std::int64_t> QuotaAllocator::Decide() {
  std::vector<std::int64_t> going;
  placement::QuotaTurns turns(gate_);
  const placement::NextGang next = queue_.Walk();
  while (const placement::Gang* gang = next()) {
    Held& held = held_.at(gang->uid);
    held.shortage.reset();
    held.before.reset();
    if (const placement::JobLabel* before = turns.Before(*gang, held.demand)) {
      held.before = *before;
    } else if (auto shortage = turns.Ask(*gang, held.demand)) {
      held.shortage = std::move(shortage);
    } else {
      turns.Take(*gang, held.demand);
      going.push_back(gang->uid);
    }
  }
  return going;
}

void QuotaAllocator::Ask(ReservationRequest request, ReservationEvents events) {
  const auto on_grant = events.on_grant;
  std::variant<Grant, Pending> answer = behind_.Reserve(std::move(request), std::move(events));
  if (auto* grant = std::get_if<Grant>(&answer); grant != nullptr && on_grant) on_grant(std::move(*grant));
}

/// Of a long queue, those whose turn alone has moved are not told.
void QuotaAllocator::TellChanges() {
  std::vector<std::int64_t> changed;
  for (auto& [uid, held] : held_) {
    std::string reason = held.shortage ? held.shortage->reason : "";
    if (held.said == reason) continue;
    held.said = std::move(reason);
    changed.push_back(uid);
  }
  for (const std::int64_t uid : changed) {
    const auto held = held_.find(uid);
    if (held != held_.end() && held->second.events.on_wait) held->second.events.on_wait();
  }
}

std::optional<placement::Wait> QuotaAllocator::WaitOf(ReservationKey key) const {
  const auto found = held_.find(key.job_uid);
  if (found == held_.end() || found->second.key != key) return behind_.WaitOf(key);
  const Held& held = found->second;
  if (!held.said) return std::nullopt;
  const placement::Gang& gang = *queue_.Find(key.job_uid);
  const std::int64_t position = queue_.PositionOf(gang);
  std::optional<placement::Shortage> shortage = held.shortage;
  if (!shortage) {
    if (auto refusal = gate_.Check(gang, held.demand)) shortage = std::move(refusal->shortage);
  }
  if (shortage)
    return placement::Wait{.position = position, .reason = shortage->reason, .unblock = shortage->unblock};
  if (!held.before) return std::nullopt;  // a plan is about to look at it
  return placement::Queue::TurnAfter(naming_.Job(*held.before, gang.project), position);
}

}  // namespace trainyard::engine
