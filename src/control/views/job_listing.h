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

/// Which jobs of a project are asked for.
struct JobListQuery {
  std::string project;
  int page_size = 0;  ///< 0: kPageSizeDefault; above kPageSizeMax: kPageSizeMax
  std::string page_token;
  std::string filter;  ///< of jobs.list: on the fields of a Job
};

/// Pages of a project's jobs, newest first, that are bounded in jobs and in bytes: what every list of jobs
/// has in common. Loop thread only.
class JobListing {
 public:
  static constexpr int kPageSizeDefault = 20;
  static constexpr int kPageSizeMax = 100;
  static constexpr int kFilteredJobsMax = 1'000;  ///< looked at in one filtered page: about 10 ms
  /// A page of large jobs is shorter than asked for: nothing is added to one that is this large.
  static constexpr std::size_t kListedBytesMax = std::size_t{512} << 10;
  /// Older jobs are kept but not listed. Source: spec api.md section 2.
  static constexpr std::chrono::days kListedMax{90};

  /// Both outlive it.
  JobListing(const Collaborators& outside, JobPresenter& presenter)
      : outside_(outside), presenter_(presenter) {}

  /// What a filter looks for, from now on. kInvalidArgument with field "filter".
  [[nodiscard]] Result<std::shared_ptr<ListSearch>> Search(const std::string& filter) const;

  /// Whether the search looks for a job as it is now.
  boost::asio::awaitable<Result<bool>> Wants(std::shared_ptr<ListSearch> search, v1::JobRecord record);

  /// What is made of each job of the page; returns how many bytes it adds to the answer. Loop thread.
  using Take = std::function<std::size_t(const v1::JobRecord& record, ml::v1::Job job)>;
  /// Which trials the `job` has that Take gets.
  enum class Trials {
    kShown,  ///< as jobs.list shows them
    kKnown,  ///< those of an ended job's record alone: nothing is read for a job
  };
  /// Returns the next page's token. A filtered page may be short, even empty, and still have a next one: what
  /// is looked at in one call is bounded. kInvalidArgument with field "page_size", "filter" or "page_token".
  boost::asio::awaitable<Result<std::string>> List(JobListQuery query, Trials trials, Take take);

 private:
  const Collaborators& outside_;
  JobPresenter& presenter_;
};

}  // namespace trainyard::control
