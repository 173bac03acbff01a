#include "control/views/job_tables.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "rules/iam/refusal.h"
#include "rules/iam/resource.h"
#include "rules/jobs/job_row.h"
#include "rules/jobs/timeline.h"
#include "stores/store/job_rules.h"

namespace trainyard::control {

namespace {

namespace asio = boost::asio;
using ml::v1::Job;

/// Counts what can be counted on the reader's thread; the rest is left for the loop: unfinished jobs, if a
/// filter may use their position in the queue.
store::JobSelection CountEnded(std::shared_ptr<ListSearch> search, std::shared_ptr<jobs::JobCount> count,
                               bool is_filtered) {
  auto wanted = [looks_for = ListSearch::EndedJobs(std::move(search)), count = std::move(count),
                 is_filtered](v1::JobRecord& record) {
    if (!looks_for(record)) return false;
    if (is_filtered && !record.job().has_end_time()) return true;
    count->Add(record);
    return false;
  };
  return {.wanted = std::move(wanted), .looked_at_max = JobTables::kSummarizedAtOnce};
}

Error NoSuch(const wire::JobName& name) {
  return iam::Absent("ml.jobs.get", iam::Resource::Job(name.project, name.job_id));
}

}  // namespace

asio::awaitable<Result<v1::JobRows>> JobTables::List(JobListQuery query) {
  v1::JobRows rows;
  if (query.page_token.empty()) {  // changes while the page is read are reported by the watch
    TY_CO_TRY(std::string resume_token, co_await outside_.journal.Read([&](store::JobStore& jobs) {
      return jobs.ResumeToken(query.project);
    }));
    rows.set_resume_token(std::move(resume_token));
  }
  auto take = [&](const v1::JobRecord& record, Job) {
    *rows.add_jobs() = presenter_.Row(record);
    return rows.jobs().rbegin()->ByteSizeLong();
  };
  TY_CO_TRY(std::string token,
            co_await listing_.List(std::move(query), JobListing::Trials::kKnown, std::move(take)));
  rows.set_next_page_token(std::move(token));
  co_return rows;
}

asio::awaitable<Result<v1::JobSummary>> JobTables::Summarize(std::string project, std::string filter) {
  TY_CO_TRY(const std::shared_ptr<ListSearch> search, listing_.Search(filter));
  auto count = std::make_shared<jobs::JobCount>();  // shared with the reader's thread
  std::string token;
  int looked_at = 0;
  int matched = 0;
  do {
    store::JobSelection selection = CountEnded(search, count, !filter.empty());
    TY_CO_TRY(store::JobPage page, co_await outside_.journal.Read([&](store::JobStore& jobs) {
      return store::SelectJobs(jobs, project, kSummarizedAtOnce, token, selection);
    }));
    for (const v1::JobRecord& record : page.jobs) {
      if (++matched % kMatchedAtOnce == 0) co_await asio::post(asio::use_awaitable);
      TY_CO_TRY(const bool wanted, co_await listing_.Wants(search, record));
      if (wanted) count->Add(record);
    }
    looked_at += page.looked_at;
    token = search->past_window() ? "" : std::move(page.next_page_token);
  } while (!token.empty() && looked_at < kSummarizedMax);
  v1::JobSummary summary = count->Summary();
  summary.set_more(!token.empty());
  co_return summary;
}

asio::awaitable<Result<v1::JobTimeline>> JobTables::Timeline(TimelineQuery query) {
  const wire::JobName& name = query.job;
  Result<v1::JobRecord> record = co_await outside_.journal.Read(
      [&](store::JobStore& jobs) { return jobs.Get(name.project, name.job_id); });
  if (record && !query.trial_id.empty())
    record = co_await outside_.journal.Read(
        [&](store::JobStore& jobs) { return jobs.GetTrial(name.project, name.job_id, query.trial_id); });
  if (!record && record.error().code == Code::kNotFound) co_return std::unexpected(NoSuch(name));
  if (!record) co_return std::unexpected(std::move(record).error());
  TY_CO_TRY(const std::vector<v1::Event> events, co_await outside_.journal.Read([&](store::JobStore& jobs) {
    return jobs.EventPage(record->uid(), query.after_seq, kEntriesMax);
  }));
  v1::JobTimeline timeline;
  for (const v1::Event& event : events) *timeline.add_entries() = jobs::EntryOf(event);
  const bool is_all = !events.empty() && events.back().seq() == record->revision();
  if (is_all) jobs::AddWait(presenter_.WhyWaiting(*record), *timeline.mutable_entries()->rbegin());
  co_return timeline;
}

}  // namespace trainyard::control
