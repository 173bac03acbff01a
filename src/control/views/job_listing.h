#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/wire/filter.h"
#include "control/views/job_presenter.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// Jobs that are matched before other work gets its turn: a long filter takes 5 ms per job.
inline constexpr int kMatchedAtOnce = 4;

/// The etag of a job in the API: a different one after every event.
[[nodiscard]] std::string Etag(const v1::JobRecord& record);

/// The jobs that jobs.list searches for. Shared with the reader's thread, which searches a long history; do
/// not read its results before that thread has answered.
class ListSearch {
 public:
  ListSearch(wire::Filter filter, SysTime oldest) : filter_(std::move(filter)), oldest_(oldest) {}

  /// A job that has not ended passes: its position in the queue is only known on the loop.
  [[nodiscard]] static std::function<bool(v1::JobRecord&)> EndedJobs(std::shared_ptr<ListSearch> search);
  /// Whether a job matches that has ended, or any job if the filter is empty; sets its etag, which the filter
  /// may use.
  [[nodiscard]] static bool WantsEnded(const ListSearch& search, v1::JobRecord& record);
  /// Whether a job matches, in its displayed form.
  [[nodiscard]] bool Wants(const ml::v1::Job& job) const { return wire::Matches(filter_, job); }
  /// Whether the filter is empty.
  [[nodiscard]] bool matches_all() const noexcept;
  /// Whether a job that is too old was seen: all later ones in the list are older.
  [[nodiscard]] bool past_window() const noexcept { return past_window_; }

 private:
  [[nodiscard]] bool IsTooOld(const v1::JobRecord& record) const;

  wire::Filter filter_;
  SysTime oldest_;
  bool past_window_ = false;
};

/// A page token of the store, bound to this filter; and the reverse. kInvalidArgument with field
/// "page_token": made for another filter. An empty token stays empty. Pure: any thread.
[[nodiscard]] std::string BindPageToken(std::string token, std::string_view filter);
[[nodiscard]] Result<std::string> UnbindPageToken(std::string_view token, std::string_view filter);

/// The wanted jobs of a project.
struct JobListQuery {
  std::string project;
  int page_size = 0;  ///< 0: kPageSizeDefault; above kPageSizeMax: kPageSizeMax
  std::string page_token;
  std::string filter;  ///< of jobs.list: on the fields of a Job
};

/// Pages of a project's jobs, newest first, limited in jobs and in bytes: the common part of all lists of
/// jobs. Loop thread only.
class JobListing {
 public:
  static constexpr int kPageSizeDefault = 20;
  static constexpr int kPageSizeMax = 100;
  static constexpr int kFilteredJobsMax = 1'000;  ///< examined for one filtered page: about 10 ms
  /// A page of large jobs is shorter than requested: nothing is added to a page of this size.
  static constexpr std::size_t kListedBytesMax = std::size_t{512} << 10;
  /// Older jobs are stored but not listed. Source: spec api.md section 2.
  static constexpr std::chrono::days kListedMax{90};

  /// Both outlive it.
  JobListing(const Collaborators& outside, JobPresenter& presenter)
      : outside_(outside), presenter_(presenter) {}

  /// A search with this filter that begins now. kInvalidArgument with field "filter".
  [[nodiscard]] Result<std::shared_ptr<ListSearch>> Search(const std::string& filter) const;

  /// Whether the search matches a job in its present state.
  boost::asio::awaitable<Result<bool>> Wants(std::shared_ptr<ListSearch> search, v1::JobRecord record);

  /// The record of the project's job with this uid; not of a trial. kNotFound.
  boost::asio::awaitable<Result<v1::JobRecord>> Find(std::string project, std::int64_t uid);

  /// Called for each job of the page; returns how many bytes it adds to the answer. Loop thread.
  using Take = std::function<std::size_t(const v1::JobRecord& record, ml::v1::Job job)>;
  /// The trials of the `job` that is passed to Take.
  enum class Trials {
    kShown,  ///< as jobs.list shows them
    kKnown,  ///< only those in an ended job's record: nothing more is read
  };
  /// Returns the next page's token. A filtered page may be short, even empty, and still have a next one: the
  /// number of jobs examined in one call is limited. kInvalidArgument with field "page_size", "filter" or
  /// "page_token".
  boost::asio::awaitable<Result<std::string>> List(JobListQuery query, Trials trials, Take take);

 private:
  const Collaborators& outside_;
  JobPresenter& presenter_;
};

}  // namespace trainyard::control
