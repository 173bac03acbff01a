#include "store/memory_job_store.h"

#include <algorithm>
#include <iterator>

#include "async/random_bytes.h"
#include "base/check.h"
#include "store/job_rules.h"

namespace trainyard::store {

MemoryJobStore::MemoryJobStore() : page_token_key_(RandomBytes<PageTokenKey>()) {}

Result<std::int64_t> MemoryJobStore::Create(const JobRecord& record, const Event& created) {
  const std::pair name(record.project(), UniqueName(record));
  if (names_.contains(name)) return std::unexpected(JobExists());
  const std::int64_t uid = ++last_uid_;
  Job& job = jobs_[uid];
  job.record = record;
  job.record.set_uid(uid);
  job.record.set_revision(1);
  job.events.push_back(created);
  CompleteEvent(job.events.back(), uid, 1);
  names_[name] = uid;
  undo_.emplace_back([this, uid, name] { jobs_.erase(uid), names_.erase(name); });
  return uid;
}

Status MemoryJobStore::Append(const JobRecord& after, const Event& event) {
  CheckEventMatches(after, event);
  const auto found = jobs_.find(after.uid());
  if (found == jobs_.end() || found->second.record.revision() != after.revision() - 1) {
    return std::unexpected(StaleRevision(after));
  }
  Job& job = found->second;
  undo_.emplace_back([&job, before = job.record] { job.record = before, job.events.pop_back(); });
  job.record = after;
  job.events.push_back(event);
  return {};
}

Result<JobRecord> MemoryJobStore::Get(std::string_view project, std::string_view job_id) {
  const auto found = names_.find({std::string(project), std::string(job_id)});
  if (found == names_.end() || jobs_.at(found->second).record.has_trial())
    return std::unexpected(NoSuchJob());
  return jobs_.at(found->second).record;
}

Result<JobPage> MemoryJobStore::List(std::string_view project, int page_size, std::string_view page_token) {
  TY_CHECK(page_size >= 1 && page_size <= kPageSizeMax);
  TY_TRY(const std::int64_t before, OpenJobPageToken(page_token_key_, project, page_token));
  JobPage page;
  for (auto job = std::make_reverse_iterator(jobs_.lower_bound(before)); job != jobs_.rend(); ++job) {
    if (job->second.record.project() != project || job->second.record.has_trial()) continue;
    if (page.jobs.size() == static_cast<std::size_t>(page_size)) {
      page.next_page_token = SealJobPageToken(page_token_key_, project, page.jobs.back().uid());
      break;
    }
    page.jobs.push_back(job->second.record);
  }
  return page;
}

Result<std::vector<JobRecord>> MemoryJobStore::Trials(std::int64_t tuning_uid, std::int64_t after_uid,
                                                      int count) {
  std::vector<JobRecord> trials;
  for (auto job = jobs_.upper_bound(after_uid); job != jobs_.end() && std::ssize(trials) < count; ++job) {
    if (job->second.record.trial().tuning_uid() == tuning_uid) trials.push_back(job->second.record);
  }
  return trials;
}

Result<std::vector<JobRecord>> MemoryJobStore::Unfinished() {
  std::vector<JobRecord> unfinished;
  for (const auto& [uid, job] : jobs_) {
    if (!job.record.job().has_end_time()) unfinished.push_back(job.record);
  }
  return unfinished;
}

Result<std::vector<Event>> MemoryJobStore::Events(std::int64_t uid, std::int64_t after_seq) {
  std::vector<Event> events;
  const auto found = jobs_.find(uid);
  if (found == jobs_.end()) return events;
  std::ranges::copy_if(found->second.events, std::back_inserter(events),
                       [after_seq](const Event& event) { return event.seq() > after_seq; });
  return events;
}

Status MemoryJobStore::Begin() {
  undo_.clear();
  return {};
}

Status MemoryJobStore::Commit() {
  undo_.clear();
  return {};
}

void MemoryJobStore::Rollback() {
  for (; !undo_.empty(); undo_.pop_back()) undo_.back()();
}

}  // namespace trainyard::store
