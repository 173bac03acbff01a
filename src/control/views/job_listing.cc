#include "control/views/job_listing.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "base/wire/filter.h"
#include "base/wire/time.h"
#include "control/run/keys.h"
#include "stores/store/job_rules.h"

namespace trainyard::control {
namespace {

namespace asio = boost::asio;
using ml::v1::Job;

constexpr int kListedAtOnce = 25;  ///< read at a time, for a page that may end early

constexpr char kBinding = '.';  // occurs in no token of the store
constexpr std::size_t kMarkDigits = 16;

/// Not a secret: a client that forges it only deceives itself. The store's own token is sealed.
std::string FilterMark(std::string_view filter) { return Mac("filter", filter).substr(0, kMarkDigits); }

}  // namespace

Result<std::shared_ptr<ListSearch>> JobListing::Search(const std::string& filter) const {
  TY_TRY(wire::Filter parsed, wire::ParseFilter(filter));
  TY_RETURN_IF_ERROR(wire::CheckFilter(parsed, *Job::descriptor()));
  return std::make_shared<ListSearch>(std::move(parsed), outside_.clock.Now() - kListedMax);
}

boost::asio::awaitable<Result<bool>> JobListing::Wants(std::shared_ptr<ListSearch> search,
                                                       v1::JobRecord record) {
  if (record.job().has_end_time() || search->matches_all()) co_return ListSearch::WantsEnded(*search, record);
  TY_CO_TRY(const Job job, co_await presenter_.Show(std::move(record), TuningJobs::kListedTrialsMax));
  co_return search->Wants(job);
}

boost::asio::awaitable<Result<std::string>> JobListing::List(JobListQuery query, Trials trials, Take take) {
  if (query.page_size < 0)
    co_return std::unexpected(InvalidArgument("page_size", "The page size must not be negative"));
  TY_CO_TRY(const std::shared_ptr<ListSearch> search, Search(query.filter));
  TY_CO_TRY(std::string token, UnbindPageToken(query.page_token, query.filter));
  const int page_size = query.page_size == 0 ? kPageSizeDefault : std::min(query.page_size, kPageSizeMax);
  int taken = 0;
  int looked_at = 0;
  int matched = 0;
  std::size_t bytes = 0;
  do {
    store::JobSelection selection{.wanted = ListSearch::EndedJobs(search),
                                  .looked_at_max = kFilteredJobsMax - looked_at};
    TY_CO_TRY(store::JobPage page, co_await outside_.journal.Read([&](store::JobStore& jobs) {
      return store::SelectJobs(jobs, query.project, std::min(page_size - taken, kListedAtOnce), token,
                               selection);
    }));
    for (const v1::JobRecord& record : page.jobs) {
      const bool has_ended = record.job().has_end_time();
      Job job;
      if (trials == Trials::kShown || !has_ended) {
        TY_CO_TRY(job, co_await presenter_.Show(record, TuningJobs::kListedTrialsMax));
      }
      if (!has_ended) {
        if (++matched % kMatchedAtOnce == 0) co_await asio::post(asio::use_awaitable);
        if (!search->Wants(job)) continue;
      }
      bytes += take(record, std::move(job));
      ++taken;
    }
    looked_at += page.looked_at;
    token = search->past_window() ? "" : std::move(page.next_page_token);
  } while (taken < page_size && bytes < kListedBytesMax && !token.empty() && looked_at < kFilteredJobsMax);
  co_return BindPageToken(std::move(token), query.filter);
}

boost::asio::awaitable<Result<v1::JobRecord>> JobListing::Find(std::string project, std::int64_t uid) {
  co_return co_await outside_.journal.Read(
      [project = std::move(project), uid](store::JobStore& jobs) { return jobs.GetByUid(project, uid); });
}

std::string Etag(const v1::JobRecord& record) { return std::to_string(record.revision()); }

std::function<bool(v1::JobRecord&)> ListSearch::EndedJobs(std::shared_ptr<ListSearch> search) {
  return [search = std::move(search)](v1::JobRecord& record) {
    if (search->IsTooOld(record)) search->past_window_ = true;
    if (search->past_window_) return false;
    return !record.job().has_end_time() || WantsEnded(*search, record);
  };
}

bool ListSearch::WantsEnded(const ListSearch& search, v1::JobRecord& record) {
  if (search.IsTooOld(record)) return false;
  record.mutable_job()->set_etag(Etag(record));
  return search.Wants(record.job());
}

bool ListSearch::matches_all() const noexcept {
  const auto* all = std::get_if<wire::And>(&filter_.node);
  return all != nullptr && all->terms.empty();
}

bool ListSearch::IsTooOld(const v1::JobRecord& record) const {
  return wire::FromProto(record.job().create_time()) < oldest_;
}

std::string BindPageToken(std::string token, std::string_view filter) {
  if (token.empty() || filter.empty()) return token;
  token.push_back(kBinding);
  return token + FilterMark(filter);
}

Result<std::string> UnbindPageToken(std::string_view token, std::string_view filter) {
  const std::size_t binding = token.rfind(kBinding);
  const std::string_view mark =
      binding == std::string_view::npos ? std::string_view() : token.substr(binding + 1);
  const bool bound_here = filter.empty() ? binding == std::string_view::npos : mark == FilterMark(filter);
  if (!token.empty() && !bound_here)
    return std::unexpected(InvalidArgument(
        "page_token", "The page token is not valid for this request: it belongs to another filter"));
  return std::string(token.substr(0, binding));
}

}  // namespace trainyard::control
