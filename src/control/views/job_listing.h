#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "control/views/job_presenter.h"
#include "control/views/list_search.h"

namespace trainyard::control {

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
