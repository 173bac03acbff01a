#include "stores/store/job_rules.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <utility>

#include "base/check.h"

namespace trainyard::store {
namespace {

std::string ListContext(std::string_view project) { return "jobs.list " + std::string(project); }

std::string ChangesContext(std::string_view project) { return "jobs.watch " + std::string(project); }

constexpr char kTrialMark = '/';  // in no job's id

}  // namespace

// Source of both texts: docs/spec "API", errors of jobs.create and jobs.get.
Error JobExists(const Result<JobRecord>& other) {
  const std::string state = other ? " It is " + ml::v1::Job::State_Name(other->job().state()) + "." : "";
  return {Code::kAlreadyExists, "A job with this id already exists." + state, "job.job_id"};
}

Error NoSuchJob() { return {Code::kNotFound, "The job cannot be found.", "name"}; }

Error StaleRevision(const JobRecord& after, std::int64_t count) {
  return {Code::kAborted,
          "job " + after.job().job_id() + " is not at revision " + std::to_string(after.revision() - count) +
              " any more",
          {}};
}

std::string UniqueName(const JobRecord& record) {
  const std::string& job_id = record.job().job_id();
  return record.has_trial() ? UniqueName(job_id, record.trial().trial_id()) : job_id;
}

std::string UniqueName(std::string_view job_id, std::string_view trial_id) {
  return std::string(job_id) + kTrialMark + std::string(trial_id);
}

void CheckEventsMatch(const JobRecord& after, std::span<const Event> events) {
  std::int64_t seq = after.revision() - std::ssize(events);
  TY_CHECK(!events.empty() && seq > 0);
  for (const Event& event : events) TY_CHECK(event.seq() == ++seq);
}

void CompleteEvent(Event& event, std::int64_t uid, std::int64_t seq) {
  event.set_seq(seq);
  if (event.has_created() && event.created().has_record())
    event.mutable_created()->mutable_record()->set_uid(uid);
}

std::string SealJobPageToken(const PageTokenKey& key, std::string_view project, std::int64_t uid) {
  return SealPageToken(key, ListContext(project), {&uid, 1});
}

Result<std::int64_t> OpenJobPageToken(const PageTokenKey& key, std::string_view project,
                                      std::string_view token) {
  std::int64_t uid = std::numeric_limits<std::int64_t>::max();
  if (token.empty()) return uid;
  TY_RETURN_IF_ERROR(OpenPageToken(key, ListContext(project), token, {&uid, 1}));
  return uid;
}

std::string SealResumeToken(const PageTokenKey& key, std::string_view project, ChangePlace place) {
  const std::array position{place.number, place.lineage};
  return SealPageToken(key, ChangesContext(project), position);
}

Result<std::int64_t> OpenResumeToken(const PageTokenKey& key, std::string_view project,
                                     std::string_view token, ChangePlace last) {
  std::array<std::int64_t, 2> position{};
  if (!OpenPageToken(key, ChangesContext(project), token, position))
    return std::unexpected(InvalidArgument(
        "resume_token", "The resume token is not one of this project's: list the jobs again"));
  const auto [number, lineage] = position;
  if (number <= last.number && lineage == last.lineage) return number;
  Error gone = FailedPrecondition(
      "The server was restored from a backup that is older than the resume token: list the jobs again",
      "resume_token");
  gone.info = ErrorInfo{.reason = std::string(kListAgain), .domain = "trainyard"};
  return std::unexpected(std::move(gone));
}

JobChange ChangeOf(std::string_view unique_name) {
  const std::size_t mark = unique_name.find(kTrialMark);
  if (mark == std::string_view::npos) return {.job_id = std::string(unique_name), .trial_id = {}};
  return {.job_id = std::string(unique_name.substr(0, mark)),
          .trial_id = std::string(unique_name.substr(mark + 1))};
}

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
