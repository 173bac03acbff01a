#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/async/task_group.h"
#include "base/result.h"
#include "base/wire/resource_name.h"
#include "control/curves/kept_jobs.h"
#include "control/curves/scalar_answers.h"
#include "control/job_service.h"
#include "stores/metrics/usage_history.h"
#include "stores/storage/buckets.h"
#include "trainyard/control/v1/curves.pb.h"

namespace trainyard::curves {

/// The metrics that jobs' programs measured: the use cases of control/v1/curves.proto. A job's event files
/// are read with the rights of the account that the job runs as: a principal that may create a job with some
/// job-dir need not have the right to read there. Loop thread only.
class JobCurves {
 public:
  /// The objects it works with: all outlive it.
  struct Outside {
    control::JobService& jobs;
    storage::Buckets& buckets;
    metrics::UsageHistory& reports;
    /// Whether that account may list and read the bucket's objects. Null: there is no authentication.
    std::function<bool(const std::string& service_account, const std::string& bucket)> may_read{};
    /// The account as which the job's programs make requests. Set together with may_read.
    std::function<std::string(const control::v1::JobRecord& job)> account_of{};
  };
  JobCurves(boost::asio::any_io_executor loop, Outside outside);

  /// kNotFound: there is no such job.
  boost::asio::awaitable<Result<v1::ScalarList>> ListScalars(wire::JobName name);
  boost::asio::awaitable<Result<v1::SummaryList>> ListSummaries(wire::JobName name);

  /// Whether the caller may see that job of the project.
  using MaySee = std::function<boost::asio::awaitable<bool>(std::string job_id)>;
  /// The JSON of ScalarCurves. A job that does not exist, or may not be seen, has no points. Errors as
  /// CheckQuery.
  boost::asio::awaitable<Result<std::string>> QueryScalars(std::string project, v1::ScalarQuery query,
                                                           MaySee may_see);

  /// Names an image or text.
  struct SummaryName {
    measurement::SeriesName series;
    std::int64_t step = 0;
  };
  /// kNotFound: there is no such job or summary. Errors as curves::ReadSummary.
  boost::asio::awaitable<Result<SummaryBytes>> ReadSummary(wire::JobName name, SummaryName summary);

  /// The thread for other work on long answers.
  [[nodiscard]] boost::asio::thread_pool& thread() noexcept { return kept_.thread(); }

 private:
  struct Asked;
  boost::asio::awaitable<Result<Asked>> Find(wire::JobName name,
                                             KeptJobs::TimePoint deadline = KeptJobs::TimePoint::max());
  boost::asio::awaitable<KeptJobs::ReportedCurves> ReadReports(control::v1::JobRecord job,
                                                               KeptJobs::TimePoint deadline);
  boost::asio::awaitable<void> ReadTags(metrics::ReportQuery query, KeptJobs::ReportedCurves& reported);

  Outside outside_;
  KeptJobs kept_;
  TaskGroup tasks_;
};

/// JSON as protobuf's own printer makes it, on one line, but many times as fast: columns of numbers are
/// printed in their shortest form. Pure: any thread.
[[nodiscard]] std::string PrintCurves(const control::v1::ScalarCurves& curves);

}  // namespace trainyard::curves
