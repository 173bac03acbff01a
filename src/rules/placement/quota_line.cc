#include "rules/placement/quota_line.h"

#include <utility>

namespace trainyard::placement {

void QuotaLine::Add(Gang gang, QuotaDemand demand) {
  held_.emplace(gang.uid, Held{.demand = std::move(demand)});
  queue_.Add(std::move(gang));
}

void QuotaLine::Remove(std::int64_t uid) {
  held_.erase(uid);
  queue_.Take(uid);
}

std::vector<std::int64_t> QuotaLine::Go() {
  std::vector<std::int64_t> going;
  QuotaTurns turns(gate_);
  const NextGang next = queue_.Walk();
  while (const Gang* gang = next()) {
    Held& held = held_.at(gang->uid);
    held.shortage.reset();
    held.before.reset();
    if (const JobLabel* before = turns.Before(*gang, held.demand)) {
      held.before = *before;
    } else if (auto shortage = turns.Ask(*gang, held.demand)) {
      held.shortage = std::move(shortage);
    } else {
      turns.Take(*gang, held.demand);
      going.push_back(gang->uid);
    }
  }
  for (const std::int64_t uid : going) Remove(uid);
  return going;
}

std::vector<std::int64_t> QuotaLine::Changed() {
  std::vector<std::int64_t> changed;
  for (auto& [uid, held] : held_) {
    std::string reason = held.shortage ? held.shortage->reason : "";
    if (held.said == reason) continue;
    held.said = std::move(reason);
    changed.push_back(uid);
  }
  return changed;
}

std::optional<Wait> QuotaLine::WaitOf(std::int64_t uid) const {
  const Held& held = held_.at(uid);
  if (!held.said) return std::nullopt;
  const Gang& gang = *queue_.Find(uid);
  const std::int64_t position = queue_.PositionOf(gang);
  std::optional<Shortage> shortage = held.shortage;
  if (!shortage) {
    if (auto refusal = gate_.Check(gang, held.demand)) shortage = std::move(refusal->shortage);
  }
  if (shortage) return Wait{.position = position, .reason = shortage->reason, .unblock = shortage->unblock};
  if (!held.before) return std::nullopt;  // Go has not processed it yet
  return Queue::TurnAfter(naming_.Job(*held.before, gang.project), position);
}

}  // namespace trainyard::placement
