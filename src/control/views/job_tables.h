#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <string>

#include "base/wire/resource_name.h"
#include "control/views/job_listing.h"
#include "trainyard/control/v1/job_rows.pb.h"
#include "trainyard/control/v1/timeline.pb.h"

namespace trainyard::control {

/// Jobs for tables and pages: the resources of job_rows.proto and timeline.proto, except changes
/// (job_watches.h). Loop thread only; the store is read on the reader's thread.
class JobTables {
 public:
  /// Limits of a summary: how many of the newest jobs it examines, and how many at a time, so that other
  /// reads run in between.
  static constexpr int kSummarizedMax = 10'000;
  static constexpr int kSummarizedAtOnce = 500;
  /// Limit of one timeline.
  static constexpr int kEntriesMax = 1'000;

  /// All outlive it.
  JobTables(const Collaborators& outside, JobPresenter& presenter, JobListing& listing)
      : outside_(outside), presenter_(presenter), listing_(listing) {}

  /// Errors as JobListing::List. The first page has a resume token for JobWatches.
  boost::asio::awaitable<Result<v1::JobRows>> List(JobListQuery query);

  /// kInvalidArgument with field "filter".
  boost::asio::awaitable<Result<v1::JobSummary>> Summarize(std::string project, std::string filter);

  struct TimelineQuery {
    wire::JobName job;
    std::int64_t after_seq = 0;
    std::string trial_id;  ///< empty: the job's own events
  };
  /// kNotFound: there is no such job, or no such trial of it.
  boost::asio::awaitable<Result<v1::JobTimeline>> Timeline(TimelineQuery query);

 private:
  const Collaborators& outside_;
  JobPresenter& presenter_;
  JobListing& listing_;
};

}  // namespace trainyard::control
