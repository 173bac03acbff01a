// jobs.list: pages that are bounded in jobs and in bytes.
#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "control/job_service.h"
#include "control/list_search.h"
#include "wire/filter.h"

namespace trainyard::control {

namespace {

namespace asio = boost::asio;
using ml::v1::Job;

constexpr int kListedAtOnce = 25;  ///< read in one go, for a page that may end early
constexpr int kMatchedAtOnce = 4;  ///< then others have their turn: a long filter takes 5 ms for a job

}  // namespace

/// A filtered page may be short, even empty, and still have a next one: what is looked at in one call is
/// bounded.
boost::asio::awaitable<Result<ml::v1::ListJobsResponse>> JobService::List(ListQuery query) {
  if (query.page_size < 0)
    co_return std::unexpected(InvalidArgument("page_size", "The page size must not be negative"));
  TY_CO_TRY(wire::Filter parsed, wire::ParseFilter(query.filter));
  TY_CO_RETURN_IF_ERROR(wire::CheckFilter(parsed, *Job::descriptor()));
  auto search = std::make_shared<ListSearch>(std::move(parsed), outside_.clock.Now() - kListedMax);
  TY_CO_TRY(std::string token, UnbindPageToken(query.page_token, query.filter));
  int page_size = query.page_size == 0 ? kPageSizeDefault : std::min(query.page_size, kPageSizeMax);
  ml::v1::ListJobsResponse response;
  int looked_at = 0;
  int matched = 0;
  std::size_t bytes = 0;
  do {
    store::Journal::Selection selection{.wanted = ListSearch::EndedJobs(search),
                                        .looked_at_max = kFilteredJobsMax - looked_at};
    TY_CO_TRY(store::JobPage page,
              co_await outside_.journal.List(query.project,
                                             std::min(page_size - response.jobs_size(), kListedAtOnce), token,
                                             std::move(selection)));
    for (const v1::JobRecord& record : page.jobs) {
      TY_CO_TRY(Job job, co_await Show(record, TuningJobs::kListedTrialsMax));
      if (!job.has_end_time()) {
        if (++matched % kMatchedAtOnce == 0) co_await asio::post(asio::use_awaitable);
        if (!search->Wants(job)) continue;
      }
      bytes += job.ByteSizeLong();
      *response.add_jobs() = std::move(job);
    }
    looked_at += page.looked_at;
    token = search->past_window() ? "" : std::move(page.next_page_token);
  } while (response.jobs_size() < page_size && bytes < kListedBytesMax && !token.empty() &&
           looked_at < kFilteredJobsMax);
  response.set_next_page_token(BindPageToken(std::move(token), query.filter));
  co_return response;
}

}  // namespace trainyard::control
