#include "rules/kubernetes/pod_gang_table.h"

namespace trainyard::kubernetes {

PodGang* PodGangTable::Find(const Submission& submission) {
  const auto found = gangs_.find(submission.gang);
  if (found == gangs_.end() || submission.number == 0) return nullptr;
  return found->second.number == submission.number ? &found->second : nullptr;
}

const PodGang* PodGangTable::Find(const Submission& submission) const {
  const auto found = gangs_.find(submission.gang);
  if (found == gangs_.end() || submission.number == 0) return nullptr;
  return found->second.number == submission.number ? &found->second : nullptr;
}

std::optional<GangKey> PodGangTable::ForSome(
    const GangKey& from, int count, const std::function<void(const GangKey&, const PodGang&)>& each) const {
  for (auto place = gangs_.lower_bound(from); place != gangs_.end(); ++place) {
    if (count-- == 0) return place->first;
    each(place->first, place->second);
  }
  return std::nullopt;
}

void PodGangTable::Erase(const GangKey& key) {
  const auto found = gangs_.find(key);
  if (found->second.due) due_.erase({*found->second.due, key});
  if (found->second.stage == PodStage::kCreating) --creating_;
  gangs_.erase(found);
}

bool PodGangTable::See(const SlotName& name, Pod pod) {
  PodGang* gang = Find(name.submission);
  if (gang == nullptr || name.slot >= gang->slots) return false;
  gang->gone.erase(name.slot);
  gang->pods.insert_or_assign(name.slot, std::move(pod));
  return true;
}

bool PodGangTable::SeeGone(const SlotName& name, Pod pod) {
  if (!See(name, std::move(pod))) return false;
  Find(name.submission)->gone.insert(name.slot);
  return true;
}

void PodGangTable::SeeOnly(PodGang& gang, const std::set<int>& listed, SysTime asked) {
  if (!gang.created || asked < *gang.created) return;
  for (int slot = 0; slot < gang.slots; ++slot)
    if (!listed.contains(slot)) gang.gone.insert(slot);
}

bool PodGangTable::MissesPods(const GangKey& key, PodGang& gang, SysTime now) {
  if (!HasUnseenPods(gang)) return false;
  const bool misses = now >= *gang.created + kUnseenMax;
  if (misses) gang.created = now;  // the list begins later, and the next one after the same time
  SetDueBy(key, gang, *gang.created + kUnseenMax);
  return misses;
}

void PodGangTable::Enter(const GangKey& key, PodGang& gang, PodStage stage, SysTime now) {
  if (gang.stage == PodStage::kCreating) --creating_;
  if (stage == PodStage::kCreating) ++creating_;
  gang.stage = stage;
  gang.since = now;
  SetDue(key, gang, std::nullopt);
}

void PodGangTable::SetDue(const GangKey& key, PodGang& gang, std::optional<SysTime> due) {
  if (gang.due) due_.erase({*gang.due, key});
  gang.due = due;
  if (due) due_.emplace(*due, key);
}

void PodGangTable::SetDueBy(const GangKey& key, PodGang& gang, SysTime due) {
  if (!gang.due || due < *gang.due) SetDue(key, gang, due);
}

std::optional<GangKey> PodGangTable::TakeDue(SysTime now) {
  if (due_.empty() || due_.begin()->first > now) return std::nullopt;
  const GangKey key = due_.begin()->second;
  SetDue(key, gangs_.at(key), std::nullopt);
  return key;
}

std::optional<SysTime> PodGangTable::NextDue() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

}  // namespace trainyard::kubernetes
