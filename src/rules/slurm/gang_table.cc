#include "rules/slurm/gang_table.h"

namespace trainyard::slurm {

namespace {

/// Whether a gang in this stage needs frequent lists.
bool IsWaitingFor(GangStage stage) {
  return stage == GangStage::kUncertain || stage == GangStage::kThere || stage == GangStage::kEnding;
}

template <class All>
auto* FindIn(All& gangs, const Submission& submission) {
  const auto found = gangs.find(submission.gang);
  return found == gangs.end() || found->second.submission != submission.number ? nullptr : &found->second;
}

}  // namespace

SlurmGang* GangTable::Find(const Submission& submission) { return FindIn(all_, submission); }
const SlurmGang* GangTable::Find(const Submission& submission) const { return FindIn(all_, submission); }

void GangTable::CountStage(GangStage stage, int change) {
  if (IsWaitingFor(stage)) waiting_ += change;
  if (stage == GangStage::kSubmitting) submitting_ += change;
}

void GangTable::Enter(const GangKey& key, SlurmGang& gang, GangStage stage, SysTime now) {
  CountStage(gang.stage, -1);
  CountStage(stage, 1);
  gang.stage = stage;
  gang.since = now;
  gang.missing.reset();
  SetDue(key, gang, std::nullopt);
}

void GangTable::SetDue(const GangKey& key, SlurmGang& gang, std::optional<SysTime> due) {
  if (gang.due) due_.erase({*gang.due, key});
  gang.due = due;
  if (gang.due) due_.insert({*gang.due, key});
}

void GangTable::Erase(const GangKey& key) {
  SlurmGang& gang = all_.at(key);
  CountStage(gang.stage, -1);
  SetDue(key, gang, std::nullopt);
  all_.erase(key);
}

std::optional<GangKey> GangTable::TakeDue(SysTime now) {
  if (due_.empty() || due_.begin()->first > now) return std::nullopt;
  const GangKey key = due_.begin()->second;
  SetDue(key, all_.at(key), std::nullopt);
  return key;
}

std::optional<SysTime> GangTable::NextDue() const {
  return due_.empty() ? std::nullopt : std::optional(due_.begin()->first);
}

}  // namespace trainyard::slurm
