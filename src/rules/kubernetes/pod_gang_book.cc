#include "rules/kubernetes/pod_gang_book.h"

#include <algorithm>
#include <utility>

namespace trainyard::kubernetes {

namespace {

PlacingTurns::Place PlaceOf(const PodGang& gang, const PlacingLimits& limits) {
  return {.line = gang.line,
          .priority = gang.priority,
          .since = gang.since,
          .needs_turn = NeedsTurn(gang, limits)};
}

}  // namespace

void PodGangBook::Wait(const GangKey& key, const PodGang& gang) { turns.Wait(key, PlaceOf(gang, limits)); }

void PodGangBook::Take(const GangKey& key, const PodGang& gang) { turns.Take(key, PlaceOf(gang, limits)); }

void PodGangBook::Leave(const GangKey& key, const PodGang& gang) {
  turns.Leave(key, PlaceOf(gang, limits));
  over_quota.Remove(key, gang.priority);
}

void PodGangBook::Say(const GangKey& key, PodGang& gang, placement::Shortage words) {
  placement::Wait wait{
      .reason = std::move(words.reason), .unblock = std::move(words.unblock), .never = words.never};
  if (wait == gang.wait) return;
  gang.wait = std::move(wait);
  actions.emplace_back(placement::SayWait{key});
}

void PodGangBook::Erase(const GangKey& key) {
  Leave(key, gangs.all().at(key));
  to_look_at.erase(key);
  gangs.Erase(key);
  actions.emplace_back(placement::Forget{key});
}

Remove PodGangBook::RemoveOf(const GangKey& key, const PodGang& gang) const {
  return {{key, gang.number}, limits.scheduler == GangScheduler::kQueue && HasUnplacedPods(gang)};
}

void PodGangBook::CreateAgain(const GangKey& key, PodGang& gang, placement::Shortage words, SysTime now,
                              std::chrono::milliseconds pause) {
  actions.emplace_back(placement::VoidTicket{{key, gang.number}});
  actions.emplace_back(RemoveOf(key, gang));
  Leave(key, gang);
  gangs.Enter(key, gang, PodStage::kWaiting, now);
  gang.attached.clear();
  gang.pause = std::min(2 * gang.pause, kCreatePauseMax);
  if (gang.over_quota) over_quota.Add(key, gang.priority);
  gangs.SetDue(key, gang, now + pause);
  Say(key, gang, std::move(words));
}

void PodGangBook::BeginAnew(const GangKey& key, PodGang& gang, placement::Shortage words, SysTime now) {
  gang.released = gang.wanted_again = gang.had_room = gang.at_time_limit = false;
  gang.lives = true;
  gang.may_live_until.reset();
  gangs.Enter(key, gang, PodStage::kWaiting, now);
  Wait(key, gang);
  Say(key, gang, std::move(words));
}

void PodGangBook::TakeRoomBack(const GangKey& key, PodGang& gang, PodEnd end, SysTime now) {
  actions.emplace_back(placement::VoidTicket{{key, gang.number}});
  actions.emplace_back(placement::TakeBack{.gang = key, .kind = end.kind, .reason = std::move(end.reason)});
  Leave(key, gang);
  gangs.Enter(key, gang, PodStage::kEnding, now);
  to_look_at.insert(key);
}

}  // namespace trainyard::kubernetes
