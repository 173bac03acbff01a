#include "placement/quota_gate.h"

namespace trainyard::placement {
namespace {

/// Whose quotas a gang draws on. A principal that nobody knows has none.
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

void QuotaGate::Take(const Gang& gang, const QuotaDemand& demand) {
  if (is_open()) return;
  for (const std::string& subject : SubjectsOf(gang)) {
    held_[{subject, std::string(kJobsQuota)}][LabelOf(gang)] = 1;  // trials of one tuning job are one
    for (const auto& [resource, amount] : demand) held_[{subject, resource}][LabelOf(gang)] += amount;
  }
}

const QuotaGate::Holders& QuotaGate::HoldersOf(const Key& key) const {
  static const Holders kNobody;
  const auto found = held_.find(key);
  return found == held_.end() ? kNobody : found->second;
}

std::optional<QuotaGate::Refusal> QuotaGate::Check(const Gang& gang, const QuotaDemand& demand) const {
  if (is_open()) return std::nullopt;
  for (const std::string& subject : SubjectsOf(gang)) {
    const Key jobs{subject, std::string(kJobsQuota)};
    if (!HoldersOf(jobs).contains(LabelOf(gang))) {
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
  const std::optional<QuotaLimit> limit = quotas_->Of(key.first, key.second);
  if (!limit) return std::nullopt;
  const Holders& holders = HoldersOf(key);
  std::int64_t held = 0;
  for (const auto& [job, amount] : holders) held += amount;
  if (held + asked <= limit->limit) return std::nullopt;
  Refusal refusal{.shortage = {}, .key = key, .is_final = asked > limit->limit};
  if (refusal.is_final) {
    refusal.shortage = {"Waiting for a larger quota: the job asks for " + Amount(asked, key.second) +
                            ", and the quota " + limit->Text() + " allows " + SubjectText(key.first) +
                            " no more than " + std::to_string(limit->limit) + ".",
                        "It can start once the server's operator raises it (trainyard serve --quota); until "
                        "then it waits and can be cancelled."};
    return refusal;
  }
  std::vector<JobLabel> jobs;
  for (const auto& [job, amount] : holders) jobs.push_back(job);
  refusal.shortage = {"Waiting for " + Amount(asked, key.second) + ": " + std::to_string(held) + " of the " +
                          std::to_string(limit->limit) + " that the quota " + limit->Text() + " allows " +
                          SubjectText(key.first) + " are in use by " + naming_.Jobs(jobs, gang.project) + ".",
                      WhenTheyEnd(jobs, gang.project, naming_)};
  return refusal;
}

bool QuotaGate::Draws(const Gang& gang, const QuotaDemand& demand, const Key& key) const {
  const std::string_view subject = key.first;
  const bool of_project =
      subject.starts_with(kProjectKind) && subject.substr(kProjectKind.size()) == gang.project;
  if (!of_project && subject != gang.creator) return false;
  if (key.second == kJobsQuota) return !HoldersOf(key).contains(LabelOf(gang));
  return demand.contains(key.second);
}

}  // namespace trainyard::placement
