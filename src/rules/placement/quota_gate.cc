#include "rules/placement/quota_gate.h"

#include <algorithm>

#include "base/check.h"

namespace trainyard::placement {
namespace {

/// The subjects whose quotas a gang uses. An unknown principal has none.
std::vector<std::string> SubjectsOf(const Gang& gang) {
  std::vector<std::string> subjects{ProjectSubject(gang.project)};
  if (!gang.creator.empty()) subjects.push_back(gang.creator);
  return subjects;
}

std::string Amount(std::int64_t number, std::string_view resource) {
  if (resource == kJobsQuota) return Counted(number, "job");
  if (resource == kGpusQuota) return Counted(number, "GPU");
  return std::to_string(number) + " " + std::string(resource);
}

}  // namespace

QuotaGate::QuotaGate(const Quotas& quotas, std::string_view engine, Naming naming)
    : quotas_(quotas.HoldBackOn(engine) ? &quotas : nullptr), engine_(engine), naming_(naming) {}

void QuotaGate::Take(const Gang& gang, const QuotaDemand& demand) {
  if (is_open()) return;
  for (const std::string& subject : SubjectsOf(gang)) {
    Key jobs{subject, std::string(kJobsQuota)};
    const bool is_first =
        !HeldOf(jobs).jobs.contains(LabelOf(gang));  // trials of one tuning job count as one
    Take(gang, std::move(jobs), is_first ? 1 : 0);
    for (const auto& [resource, amount] : demand) Take(gang, {subject, resource}, amount);
  }
}

void QuotaGate::Take(const Gang& gang, Key key, std::int64_t amount) {
  Held& held = held_[std::move(key)];
  held.amount += amount;
  ++held.jobs[LabelOf(gang)];
}

void QuotaGate::Return(const Gang& gang, const QuotaDemand& demand) {
  if (is_open()) return;
  for (const std::string& subject : SubjectsOf(gang)) {
    const Key jobs{subject, std::string(kJobsQuota)};
    const bool is_last = HeldOf(jobs).jobs.at(LabelOf(gang)) == 1;
    Return(gang, jobs, is_last ? 1 : 0);
    for (const auto& [resource, amount] : demand) Return(gang, {subject, resource}, amount);
  }
}

void QuotaGate::Return(const Gang& gang, const Key& key, std::int64_t amount) {
  const auto held = held_.find(key);
  TY_CHECK(held != held_.end());
  held->second.amount -= amount;
  std::map<JobLabel, int>& jobs = held->second.jobs;
  if (--jobs.at(LabelOf(gang)) == 0) jobs.erase(LabelOf(gang));
  if (jobs.empty()) held_.erase(held);
}

const QuotaGate::Held& QuotaGate::HeldOf(const Key& key) const {
  static const Held kNobody;
  const auto found = held_.find(key);
  return found == held_.end() ? kNobody : found->second;
}

std::optional<QuotaGate::Refusal> QuotaGate::Check(const Gang& gang, const QuotaDemand& demand) const {
  if (is_open()) return std::nullopt;
  for (const std::string& subject : SubjectsOf(gang)) {
    const Key jobs{subject, std::string(kJobsQuota)};
    if (!HeldOf(jobs).jobs.contains(LabelOf(gang))) {
      if (auto refusal = CheckOne(gang, jobs, 1)) return refusal;
    }
    for (const auto& [resource, amount] : demand) {
      if (auto refusal = CheckOne(gang, {subject, resource}, amount)) return refusal;
    }
  }
  return std::nullopt;
}

std::optional<QuotaGate::Refusal> QuotaGate::CheckOne(const Gang& gang, const Key& key,
                                                      std::int64_t asked) const {
  const std::optional<QuotaLimit> limit = quotas_->Of(key.first, key.second, engine_);
  if (!limit) return std::nullopt;
  const Held& held = HeldOf(key);
  if (held.amount + asked <= limit->limit) return std::nullopt;
  Refusal refusal{.shortage = {}, .key = key, .is_final = asked > limit->limit};
  if (refusal.is_final) {
    refusal.shortage = {"Waiting for a larger quota: the job asks for " + Amount(asked, key.second) +
                            ", and the quota " + limit->Text() + " allows " + SubjectText(key.first) +
                            " no more than " + std::to_string(limit->limit) + ".",
                        "It can start when the server's operator raises the quota (trainyard serve --quota). "
                        "Until then it waits; you can cancel it."};
    return refusal;
  }
  std::vector<JobLabel> jobs;
  for (const auto& [job, gangs] : held.jobs) jobs.push_back(job);
  refusal.shortage = {"Waiting for " + Amount(asked, key.second) + ": " + std::to_string(held.amount) +
                          " of the " + std::to_string(limit->limit) + " that the quota " + limit->Text() +
                          " allows " + SubjectText(key.first) + " are in use by " +
                          naming_.Jobs(jobs, gang.project) + ".",
                      WhenTheyEnd(jobs, gang.project, naming_)};
  return refusal;
}

bool QuotaGate::Draws(const Gang& gang, const QuotaDemand& demand, const Key& key) const {
  const std::string_view subject = key.first;
  const bool of_project =
      subject.starts_with(kProjectKind) && subject.substr(kProjectKind.size()) == gang.project;
  if (!of_project && subject != gang.creator) return false;
  if (key.second == kJobsQuota) return !HeldOf(key).jobs.contains(LabelOf(gang));
  return demand.contains(key.second);
}

const JobLabel* QuotaTurns::Before(const Gang& gang, const QuotaDemand& demand) const {
  const auto first = std::ranges::find_if(
      waited_for_, [&](const auto& one) { return gate_.Draws(gang, demand, one.first); });
  return first == waited_for_.end() ? nullptr : &first->second;
}

std::optional<Shortage> QuotaTurns::Ask(const Gang& gang, const QuotaDemand& demand) {
  std::optional<QuotaGate::Refusal> refusal = gate_.Check(gang, demand);
  if (!refusal) return std::nullopt;
  if (!refusal->is_final) waited_for_.emplace_back(std::move(refusal->key), LabelOf(gang));
  return std::move(refusal->shortage);
}

}  // namespace trainyard::placement
