#include "rules/slurm/claims.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "rules/slurm/node_list.h"

namespace trainyard::slurm {

void Claims::OnSubmitted(const Submission& submission, std::int64_t id, int components) {
  known_[submission] = {.first_id = id, .components = components};
}

std::optional<std::int64_t> Claims::IdOf(const Submission& submission) const {
  const auto found = known_.find(submission);
  return found == known_.end() ? std::nullopt : found->second.first_id;
}

bool Claims::IsOwn(const Known& known, const ListedJob& job) {
  return !known.first_id || (job.id >= *known.first_id && job.id < *known.first_id + known.components);
}

std::vector<CancelJobs> Claims::OnListed(bool all, OurJobs& ours) {
  std::vector<CancelJobs> others;
  std::vector<std::size_t> dropped;
  for (auto& [submission, known] : known_) {
    const auto [begin, end] = std::ranges::equal_range(ours.whose, submission);
    if (begin == end && !all) continue;
    bool is_running = true;
    std::vector<std::string> nodes;
    for (auto place = begin; place != end; ++place) {
      const ListedJob& job = ours.jobs[static_cast<std::size_t>(place - ours.whose.begin())];
      if (IsOwn(known, job)) {
        is_running = is_running && job.state == JobState::kRunning;
        nodes.push_back(job.nodes);
        continue;
      }
      dropped.push_back(static_cast<std::size_t>(place - ours.whose.begin()));
      if (!HasEnded(job.state)) others.push_back({.name = job.name, .ids = {job.id}});
    }
    if (!is_running) nodes.clear();
    known.nodes = std::move(nodes);
  }
  for (auto place = dropped.rbegin(); place != dropped.rend(); ++place) {
    ours.whose.erase(ours.whose.begin() + static_cast<std::ptrdiff_t>(*place));
    ours.jobs.erase(ours.jobs.begin() + static_cast<std::ptrdiff_t>(*place));
  }
  return others;
}

Claim Claims::ClaimOf(const Submission& submission, std::string_view node) {
  const Known& known = known_[submission];  // from now on lists are read for it
  if (known.nodes.empty()) return Claim::kEarly;
  const auto names = [node](const std::string& nodes) { return NamesNode(nodes, node); };
  return std::ranges::any_of(known.nodes, names) ? Claim::kRight : Claim::kElsewhere;
}

void Claims::Forget(const GangKey& gang) {
  std::erase_if(known_, [&gang](const auto& one) { return one.first.gang == gang; });
}

}  // namespace trainyard::slurm
