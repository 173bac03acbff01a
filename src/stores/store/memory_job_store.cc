#include "stores/store/memory_job_store.h"

#include <algorithm>
#include <iterator>
#include <ranges>

#include "base/async/random_bytes.h"
#include "base/check.h"
#include "stores/store/job_rules.h"

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
  NoteChange(name.first, name.second);
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
  NoteChange(after.project(), UniqueName(after));
  return {};
}

/// With Rollback the number stays: what asks finds the job as it was.
void MemoryJobStore::NoteChange(const std::string& project, const std::string& unique_name) {
  const std::pair name(project, unique_name);
  std::erase_if(changes_, [&](const auto& change) { return change.second == name; });
  changes_.emplace(++last_change_, name);
}

Result<std::string> MemoryJobStore::ResumeToken(std::string_view project) {
  return SealResumeToken(page_token_key_, project, {.number = last_change_});
}

Result<ChangePage> MemoryJobStore::Changed(std::string_view project, std::string_view resume_token,
                                           int count) {
  TY_TRY(std::int64_t number,
         OpenResumeToken(page_token_key_, project, resume_token, {.number = last_change_}));
  ChangePage page;
  for (auto change = changes_.upper_bound(number); change != changes_.end() && !page.more; ++change) {
    if (change->second.first != project) continue;
    page.more = std::ssize(page.changes) == count;
    if (page.more) break;
    number = change->first;
    page.changes.push_back(ChangeOf(change->second.second));
  }
  page.resume_token = SealResumeToken(page_token_key_, project, {.number = number});
  return page;
}

Result<JobRecord> MemoryJobStore::Get(std::string_view project, std::string_view job_id) {
  const auto found = names_.find({std::string(project), std::string(job_id)});
  const auto job = found == names_.end() ? jobs_.end() : jobs_.find(found->second);
  if (job == jobs_.end() || job->second.removing || job->second.record.has_trial())
    return std::unexpected(NoSuchJob());
  return job->second.record;
}

Result<JobPage> MemoryJobStore::List(std::string_view project, int page_size, std::string_view page_token) {
  TY_CHECK(page_size >= 1 && page_size <= kPageSizeMax);
  TY_TRY(const std::int64_t before, OpenJobPageToken(page_token_key_, project, page_token));
  JobPage page;
  for (auto job = std::make_reverse_iterator(jobs_.lower_bound(before)); job != jobs_.rend(); ++job) {
    if (job->second.record.project() != project || job->second.record.has_trial() || job->second.removing)
      continue;
    if (page.jobs.size() == static_cast<std::size_t>(page_size)) {
      page.next_page_token = SealJobPageToken(page_token_key_, project, page.jobs.back().uid());
      break;
    }
    page.jobs.push_back(job->second.record);
  }
  return page;
}

Result<std::vector<std::string>> MemoryJobStore::RecentProjects(int count) {
  std::vector<std::string> projects;
  for (const auto& [uid, job] : jobs_ | std::views::reverse) {
    if (std::ssize(projects) == count) break;
    if (job.record.has_trial() || job.removing) continue;
    const bool is_known = std::ranges::find(projects, job.record.project()) != projects.end();
    if (!is_known) projects.push_back(job.record.project());
  }
  return projects;
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

Result<JobRecord> MemoryJobStore::GetTrial(std::string_view project, std::string_view job_id,
                                           std::string_view trial_id) {
  const auto found = names_.find({std::string(project), UniqueName(job_id, trial_id)});
  const auto job = found == names_.end() ? jobs_.end() : jobs_.find(found->second);
  if (job == jobs_.end()) return std::unexpected(NoSuchJob());
  return job->second.record;
}

Result<std::vector<Event>> MemoryJobStore::EventPage(std::int64_t uid, std::int64_t after_seq, int count) {
  TY_TRY(std::vector<Event> events, Events(uid, after_seq));
  if (std::ssize(events) > count) events.resize(static_cast<std::size_t>(count));
  return events;
}

Result<std::vector<Event>> MemoryJobStore::Events(std::int64_t uid, std::int64_t after_seq) {
  std::vector<Event> events;
  const auto found = jobs_.find(uid);
  if (found == jobs_.end()) return events;
  std::ranges::copy_if(found->second.events, std::back_inserter(events),
                       [after_seq](const Event& event) { return event.seq() > after_seq; });
  return events;
}

Result<std::vector<FinishedJob>> MemoryJobStore::Finished(const FinishedQuery& query) {
  std::vector<FinishedJob> finished;
  const auto position = [](const FinishedJob& job) { return std::pair(job.end_time, job.uid); };
  for (const auto& [uid, job] : jobs_) {
    if (!job.record.job().has_end_time() || job.record.has_trial() || job.removing) continue;
    const auto& end = job.record.job().end_time();
    const FinishedJob one{
        .uid = uid,
        .end_time = SysTime(std::chrono::seconds(end.seconds()) + std::chrono::nanoseconds(end.nanos()))};
    if (position(one) > position(query.after) && one.end_time < query.before) finished.push_back(one);
  }
  std::ranges::sort(finished, {}, position);
  if (std::ssize(finished) > query.count) finished.resize(static_cast<std::size_t>(query.count));
  return finished;
}

Result<std::int64_t> MemoryJobStore::BeginRemoval(std::span<const std::int64_t> uids) {
  std::int64_t begun = 0;
  for (const std::int64_t uid : uids) {
    const auto found = jobs_.find(uid);
    if (found == jobs_.end() || found->second.removing || found->second.record.has_trial()) continue;
    if (!found->second.record.job().has_end_time()) continue;
    found->second.removing = true;
    NoteChange(found->second.record.project(), UniqueName(found->second.record));
    undo_.emplace_back([this, uid] { jobs_.at(uid).removing = false; });
    ++begun;
  }
  return begun;
}

Result<std::vector<std::int64_t>> MemoryJobStore::Removing(int count) {
  std::vector<std::int64_t> uids;
  for (const auto& [uid, job] : jobs_) {
    if (job.removing && std::ssize(uids) < count) uids.push_back(uid);
  }
  return uids;
}

std::vector<std::int64_t> MemoryJobStore::TrialsOf(std::int64_t tuning_uid) const {
  std::vector<std::int64_t> uids;
  for (const auto& [uid, job] : jobs_) {
    if (job.record.trial().tuning_uid() == tuning_uid) uids.push_back(uid);
  }
  return uids;
}

/// A row is an event or a record, as in a database. What is erased does not come back with Rollback: nobody
/// asks a fake for that.
std::int64_t MemoryJobStore::EraseOne(std::int64_t uid, std::int64_t rows_max) {
  const auto found = jobs_.find(uid);
  if (found == jobs_.end() || !found->second.removing) return 0;
  std::vector<std::int64_t> doomed = TrialsOf(uid);
  doomed.push_back(uid);
  std::int64_t erased = 0;
  for (const std::int64_t one : doomed) {
    std::vector<Event>& events = jobs_.at(one).events;
    const std::int64_t count = std::min(std::ssize(events), rows_max - erased);
    events.erase(events.begin(), events.begin() + count);
    erased += count;
    if (erased == rows_max) return erased;
    jobs_.erase(one);
    if (++erased == rows_max) return erased;
  }
  return erased;
}

Result<std::int64_t> MemoryJobStore::EraseRemoved(std::span<const std::int64_t> uids, std::int64_t rows_max) {
  std::int64_t erased = 0;
  for (const std::int64_t uid : uids) erased += EraseOne(uid, rows_max - erased);
  return erased;
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
