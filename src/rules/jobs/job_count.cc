#include "rules/jobs/job_count.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace trainyard::jobs {

void JobCount::Add(const control::v1::JobRecord& job) {
  ++jobs_;
  ++by_state_[job.job().state()];
  if (job.has_tuning()) ++tuning_;
  if (!job.creator().empty() && creators_.size() < kCreatorsMax) creators_.insert(job.creator());
  for (const auto& [key, value] : job.job().labels()) {
    const std::pair label(key, value);
    const auto known = labels_.find(label);
    if (known != labels_.end())
      ++known->second;
    else if (labels_.size() < kLabelsCounted)
      labels_.emplace(label, 1);
  }
}

control::v1::JobSummary JobCount::Summary() const {
  control::v1::JobSummary summary;
  summary.set_jobs(jobs_);
  summary.set_tuning(tuning_);
  for (const auto& [state, jobs] : by_state_)
    (*summary.mutable_by_state())[ml::v1::Job::State_Name(state)] = jobs;
  for (const std::string& creator : creators_) summary.add_creators(creator);
  std::vector<std::pair<std::pair<std::string, std::string>, std::int64_t>> sorted(labels_.begin(),
                                                                                   labels_.end());
  std::ranges::sort(sorted, {}, [](const auto& label) { return std::tuple(-label.second, label.first); });
  if (sorted.size() > kLabelsMax) sorted.resize(kLabelsMax);
  for (const auto& [label, jobs] : sorted) {
    control::v1::JobSummary::Label& shown = *summary.add_labels();
    shown.set_key(label.first);
    shown.set_value(label.second);
    shown.set_jobs(jobs);
  }
  return summary;
}

}  // namespace trainyard::jobs
