#include "rules/kubernetes/pod_gang.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace trainyard::kubernetes {

namespace {

using placement::RoomEnd;
using placement::Shortage;

bool HasCondition(const Pod& pod, std::string_view type, std::string_view status, std::string_view reason) {
  return std::ranges::any_of(pod.conditions, [&](const Pod::Condition& condition) {
    return condition.type == type && condition.status == status &&
           (reason.empty() || condition.reason == reason);
  });
}

/// Kubernetes has given up the pod's node: nothing says when the pod vanishes, and its agent's ticket is
/// void. A healthy node whose taint evicts the pod still ends it, and its pods are ready until then.
bool IsOnSilentNode(const Pod& pod) {
  if (!pod.is_deleted) return false;
  return HasCondition(pod, "DisruptionTarget", "True", "DeletionByPodGC") ||
         (HasCondition(pod, "DisruptionTarget", "True", "DeletionByTaintManager") &&
          HasCondition(pod, "Ready", "False", ""));
}

bool IsOver(const Pod& pod) { return pod.has_ended() || IsOnSilentNode(pod); }

std::string CountOf(int placed, int slots) {
  return std::to_string(placed) + " of " + std::to_string(slots) + " pods have a node. ";
}

/// All pods have nodes: images are pulled, and agents start.
PlacingVerdict JudgeStart(PodGang& gang, const PlacingLimits& limits, SysTime now) {
  if (!gang.all_placed) gang.all_placed = now;
  if (std::ssize(gang.attached) == gang.slots) return AllThere();
  Shortage words{.reason = "Its agents start in their pods.",
                 .unblock = "It starts when all of them have reached this server."};
  for (const auto& [slot, pod] : gang.pods) {
    std::optional<StartWait> wait = WhyNotStarted(pod);
    if (!wait) continue;
    words = std::move(wait->words);
    const SysTime end = *gang.all_placed + limits.pull_max;
    if (wait->is_final || now >= end) {
      std::string_view advice = words.unblock;
      if (advice.starts_with(kTriesAgain)) advice.remove_prefix(kTriesAgain.size());
      return PodEnd{.kind = RoomEnd::kCannotStart, .reason = words.reason + " " + std::string(advice)};
    }
    return StillStarting{.words = std::move(words), .look_at = end};
  }
  if (!gang.all_run) gang.all_run = now;  // an image may take longer than an agent
  const SysTime end = *gang.all_run + kAttachMax;
  if (now < end) return StillStarting{.words = std::move(words), .look_at = end};
  return GivesWay{.words = {.reason = "Its pods run, but their agents did not reach this server.",
                            .unblock = "Pods must be able to connect to the address of --agent-listen."}};
}

/// It holds nothing, so it waits on unless others wait for its place.
PlacingVerdict JudgeUnplaced(const PodGang& gang, StillPlacing still, bool is_crowded, SysTime now) {
  const bool had_turn = now >= gang.open + kUnplacedTurn;
  if (had_turn && is_crowded) return GivesWay{.words = std::move(still.words), .after_turn = true};
  still.look_at = (had_turn ? now : gang.open) + kUnplacedTurn;
  return still;
}

/// Its pods are behind gates. It holds nothing, and waits as long as it takes: a pod that is made again is
/// the last one in the queue. Why it waits may change without an event that we see.
StillPlacing JudgeGated(PodGang& gang, StillPlacing still, SysTime now) {
  gang.open = now;
  if (!gang.queue_words.empty())
    still.words.reason = "A queue of the cluster has not admitted it yet: " + gang.queue_words + ".";
  const SysTime next = gang.queue_asked ? *gang.queue_asked + kAskQueuePause : gang.since + kAskQueueFirst;
  still.asks_queue = now >= next;
  still.look_at = still.asks_queue ? now + kAskQueuePause : next;
  return still;
}

}  // namespace

bool NeedsTurn(const PodGang& gang, const PlacingLimits& limits) noexcept {
  return gang.slots > 1 && limits.scheduler == GangScheduler::kTurns;
}

std::optional<PodEnd> FirstEnd(const PodGang& gang) {
  std::optional<PodEnd> found;
  for (int slot = 0; slot < gang.slots; ++slot) {
    const auto pod = gang.pods.find(slot);
    const bool is_gone = gang.gone.contains(slot);
    if (pod == gang.pods.end()) {
      if (is_gone && !found)
        found = PodEnd{.kind = RoomEnd::kLost,
                       .reason = "The pod of slot " + std::to_string(slot) +
                                 " is gone, and nothing says why: the API server has forgotten it."};
      continue;
    }
    if (!is_gone && !IsOver(pod->second)) continue;
    PodEnd end = EndOf(pod->second, is_gone);
    // Peers of a lost pod end by themselves.
    if (!found || (found->kind == RoomEnd::kLost && end.kind != RoomEnd::kLost)) found = std::move(end);
  }
  if (found && gang.at_time_limit) found->kind = RoomEnd::kTimeLimit;
  return found;
}

bool HasLivingPods(const PodGang& gang) {
  for (int slot = 0; slot < gang.slots; ++slot) {
    if (gang.gone.contains(slot)) continue;
    const auto pod = gang.pods.find(slot);
    if (pod == gang.pods.end() || !IsOver(pod->second)) return true;
    // Its agent has ended; the program beside it may need a moment more.
    if (pod->second.job_runs && !IsOnSilentNode(pod->second)) return true;
  }
  return false;
}

bool HasUnplacedPods(const PodGang& gang) {
  for (int slot = 0; slot < gang.slots; ++slot) {
    if (gang.gone.contains(slot)) continue;
    const auto pod = gang.pods.find(slot);
    if (pod == gang.pods.end() || !pod->second.has_node()) return true;
  }
  return false;
}

bool HasUnseenPods(const PodGang& gang) {
  if (!gang.created) return false;
  for (int slot = 0; slot < gang.slots; ++slot)
    if (!gang.pods.contains(slot) && !gang.gone.contains(slot)) return true;
  return false;
}

std::string NodeOfSlot(const PodGang& gang, int slot) {
  const auto pod = gang.pods.find(slot);
  if (pod == gang.pods.end() || gang.gone.contains(slot) || pod->second.is_deleted) return {};
  return pod->second.node;
}

bool IsLeaving(const PodGang& gang, int slot) {
  const auto pod = gang.pods.find(slot);
  return gang.gone.contains(slot) ||
         (pod != gang.pods.end() && (pod->second.is_deleted || pod->second.has_ended()));
}

PlacingVerdict JudgePlacing(PodGang& gang, const PlacingLimits& limits, bool is_crowded, SysTime now) {
  const std::optional<PodEnd> end = FirstEnd(gang);
  if (end && end->kind == RoomEnd::kCannotStart) return *end;
  if (end)
    return GivesWay{.words = {.reason = "Its pods ended before they could be used: " + end->reason,
                              .unblock = "They are created again after a pause."}};
  int placed = 0;
  const Pod* unplaced = nullptr;
  for (const auto& [slot, pod] : gang.pods) {
    if (pod.has_node())
      ++placed;
    else if (unplaced == nullptr || WhatIsSaid(*unplaced) < WhatIsSaid(pod))
      unplaced = &pod;
  }
  if (placed == gang.slots) return JudgeStart(gang, limits, now);

  StillPlacing still{.words = unplaced == nullptr ? Shortage() : WhyUnplaced(*unplaced)};
  if (still.words.reason.empty())
    still.words = {.reason = "Its pods wait for nodes.", .unblock = "It starts when the cluster has room."};
  if (placed > 0) still.words.reason = CountOf(placed, gang.slots) + still.words.reason;
  if (gang.open < gang.since) gang.open = gang.since;
  if (placed == 0) gang.part_since.reset();
  if (placed > 0 && !gang.part_since) gang.part_since = now;
  if (limits.scheduler == GangScheduler::kQueue && unplaced != nullptr && IsGated(*unplaced)) {
    if (unplaced->queue == limits.queue) return JudgeGated(gang, std::move(still), now);
    return GivesWay{.words = {.reason = "Its pods are in another queue than --kubernetes-queue.",
                              .unblock = "They are created again after a pause."}};
  }
  // Nobody waits for the turn of a gang that the cluster places: it begins once the gang holds something.
  const bool takes_turn = gang.may_hold_part && limits.scheduler != GangScheduler::kQueue;
  if (!takes_turn && placed == 0) return JudgeUnplaced(gang, std::move(still), is_crowded, now);
  const SysTime begin = takes_turn ? gang.open : *gang.part_since;
  const bool has_verdict = unplaced != nullptr && IsUnschedulable(*unplaced);
  std::chrono::seconds length = limits.turn;
  if (!has_verdict) length = std::max(length, kVerdictMax);
  if (gang.scales_up) length = std::max<std::chrono::seconds>(length, kScaleUpMax);
  const SysTime end_of_turn = begin + length;
  if (now >= end_of_turn) return GivesWay{.words = std::move(still.words), .after_turn = true};
  const SysTime half = begin + limits.turn / 2;
  still.look_at = gang.asked_for_scale_up ? end_of_turn : half;
  if (gang.asked_for_scale_up || now < half) return still;
  still.look_at = end_of_turn;
  if (has_verdict) still.unplaced_pod = unplaced->name;
  return still;
}

}  // namespace trainyard::kubernetes
