#include "engine/draining_allocator.h"

#include <boost/asio/post.hpp>
#include <utility>

namespace trainyard::engine {

DrainingAllocator::DrainingAllocator(boost::asio::any_io_executor loop, Allocator& behind)
    : loop_(std::move(loop)), behind_(behind) {}

void DrainingAllocator::Drain(placement::Shortage why) {
  why_ = std::move(why);
  std::int64_t behind_all = 0;
  for (auto& [uid, waiting] : waiting_) {
    ++behind_all;
    if (!waiting.held) {
      const std::optional<placement::Wait> wait = behind_.WaitOf(waiting.request.key);
      Hold(waiting, wait && wait->position > 0 ? wait->position : behind_all);
      behind_.Release(waiting.request.key);
    }
    TellSoon(uid);
  }
}

void DrainingAllocator::GoOn() {
  if (!std::exchange(why_, std::nullopt)) return;
  for (auto& [uid, waiting] : waiting_) {
    if (std::exchange(waiting.held, false)) Ask(waiting);
  }
}

std::vector<std::int64_t> DrainingAllocator::Granted() const {
  std::vector<std::int64_t> uids;
  for (const auto& [uid, key] : granted_) uids.push_back(uid);
  return uids;
}

std::variant<Grant, Pending> DrainingAllocator::Reserve(ReservationRequest request,
                                                        ReservationEvents events) {
  const std::int64_t uid = request.key.job_uid;
  const auto granted = granted_.find(uid);
  if (request.granted || (granted != granted_.end() && granted->second == request.key)) {
    granted_[uid] = request.key;
    return behind_.Reserve(std::move(request), std::move(events));
  }
  granted_.erase(uid);  // of an earlier try
  const auto known = waiting_.find(uid);
  const bool was_held = known != waiting_.end() && known->second.held;
  Waiting& waiting = waiting_[uid];
  const std::int64_t position = was_held ? waiting.position : static_cast<std::int64_t>(waiting_.size());
  waiting.request = std::move(request);
  waiting.events = std::move(events);
  if (!why_) return Ask(waiting);
  Hold(waiting, position);
  TellSoon(uid);
  return Pending{why_->reason};
}

/// The grant is noted before the job's runner hears of it.
std::variant<Grant, Pending> DrainingAllocator::Ask(Waiting& waiting) {
  const ReservationKey key = waiting.request.key;
  const auto mine = [this, key, alive = std::weak_ptr<bool>(alive_)]() -> Waiting* {
    if (alive.expired()) return nullptr;
    const auto found = waiting_.find(key.job_uid);
    const bool is_asked = found != waiting_.end() && found->second.request.key == key && !found->second.held;
    return is_asked ? &found->second : nullptr;
  };
  ReservationEvents events;
  events.on_grant = [this, key, mine](Grant grant) {
    Waiting* found = mine();
    if (found == nullptr) return;
    // It stays what it was told to tell: a revocation comes by the same events.
    const auto on_grant = std::move(found->events.on_grant);
    waiting_.erase(key.job_uid);
    granted_[key.job_uid] = key;
    if (on_grant) on_grant(std::move(grant));
  };
  events.on_wait = [mine] {
    const Waiting* found = mine();
    if (found != nullptr && found->events.on_wait) found->events.on_wait();
  };
  events.on_revoked = waiting.events.on_revoked;
  const std::variant<Grant, Pending> answer = behind_.Reserve(waiting.request, std::move(events));
  if (std::holds_alternative<Grant>(answer)) {
    waiting_.erase(key.job_uid);
    granted_[key.job_uid] = key;
  }
  return answer;
}

void DrainingAllocator::Hold(Waiting& waiting, std::int64_t position) {
  waiting.held = true;
  waiting.position = position;
}

void DrainingAllocator::TellSoon(std::int64_t uid) {
  boost::asio::post(loop_, [this, uid, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.expired()) return;
    const auto found = waiting_.find(uid);
    if (found != waiting_.end() && found->second.held && found->second.events.on_wait)
      found->second.events.on_wait();
  });
}

void DrainingAllocator::Detach(ReservationKey key) {
  waiting_.erase(key.job_uid);
  behind_.Detach(key);
}

void DrainingAllocator::Release(ReservationKey key) {
  waiting_.erase(key.job_uid);
  granted_.erase(key.job_uid);
  behind_.Release(key);
}

std::optional<placement::Wait> DrainingAllocator::WaitOf(ReservationKey key) const {
  const auto found = waiting_.find(key.job_uid);
  if (found == waiting_.end() || !found->second.held || !why_) return behind_.WaitOf(key);
  return placement::Wait{
      .position = found->second.position, .reason = why_->reason, .unblock = why_->unblock};
}

}  // namespace trainyard::engine
