#include "stores/store/job_reads.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace trainyard::store {

Result<JobPage> SelectJobs(JobStore& store, const std::string& project, int page_size, std::string page_token,
                           const JobSelection& selection) {
  JobPage selected{.jobs = {}, .next_page_token = std::move(page_token)};
  do {
    const int room = page_size - static_cast<int>(selected.jobs.size());
    TY_TRY(JobPage page, store.List(project, room, selected.next_page_token));
    for (JobRecord& record : page.jobs) {
      if (selection.wanted(record)) selected.jobs.push_back(std::move(record));
    }
    selected.looked_at += room;
    selected.next_page_token = std::move(page.next_page_token);
  } while (std::ssize(selected.jobs) < page_size && !selected.next_page_token.empty() &&
           selected.looked_at < selection.looked_at_max);
  return selected;
}

Result<ChangedJobs> ReadChanged(JobStore& store, const std::string& project, const std::string& resume_token,
                                int count) {
  TY_TRY(ChangePage page, store.Changed(project, resume_token, count));
  ChangedJobs changed{.jobs = {}, .resume_token = std::move(page.resume_token), .more = page.more};
  for (JobChange& change : page.changes) {
    auto known = std::ranges::find(changed.jobs, change.job_id, &ChangedJob::job_id);
    if (known == changed.jobs.end()) {
      Result<JobRecord> job = store.Get(project, change.job_id);
      if (!job && job.error().code != Code::kNotFound) return std::unexpected(std::move(job).error());
      known = changed.jobs.insert(known, {.job_id = change.job_id, .job = {}, .trial_ids = {}});
      if (job) known->job = *std::move(job);
    }
    if (!change.trial_id.empty() && known->job) known->trial_ids.push_back(std::move(change.trial_id));
  }
  return changed;
}

}  // namespace trainyard::store
