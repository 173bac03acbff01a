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
#include "control/curves/read_summary.h"
#include "control/curves/scalar_answers.h"
#include "control/job_service.h"
#include "stores/metrics/usage_history.h"
#include "stores/storage/buckets.h"

namespace trainyard::curves {

/// What jobs' programs measured of themselves: the use cases of control/v1/curves.proto. A job's event files
/// are read with the rights of the account that the job runs as: who may create a job somewhere need not be
/// allowed to read there. Loop thread only.
class JobCurves {
 public:
  /// What it works with: all outlive it.
  struct Outside {
    control::JobService& jobs;
    storage::Buckets& buckets;
    metrics::UsageHistory& reports;
    /// Whether that account may list and read the bucket's objects. Empty: nobody is asked who they are.
    std::function<bool(const std::string& service_account, const std::string& bucket)> may_read{};
    /// As whom its programs ask for things. Where may_read is.
    std::function<std::string(const control::v1::JobRecord& job)> account_of{};
  };
  JobCurves(boost::asio::any_io_executor loop, Outside outside);

  /// kNotFound: there is no such job.
  boost::asio::awaitable<Result<v1::ScalarList>> ListScalars(wire::JobName name);
  boost::asio::awaitable<Result<v1::SummaryList>> ListSummaries(wire::JobName name);

  /// Whether who asks may see that job of the project.
  using MaySee = std::function<boost::asio::awaitable<bool>(std::string job_id)>;
  /// The JSON of ScalarCurves. A job that is not there, or may not be seen, has no points. Errors as
  /// CheckQuery.
  boost::asio::awaitable<Result<std::string>> QueryScalars(std::string project, v1::ScalarQuery query,
                                                           MaySee may_see);

  /// Which image or text.
  struct SummaryName {
    measurement::SeriesName series;
    std::int64_t step = 0;
  };
  /// kNotFound: there is no such job or summary. Errors as curves::ReadSummary.
  boost::asio::awaitable<Result<SummaryBytes>> ReadSummary(wire::JobName name, SummaryName summary);

  /// For other work on long answers.
  [[nodiscard]] boost::asio::thread_pool& thread() noexcept { return kept_.thread(); }

 private:
  struct Asked;
  boost::asio::awaitable<Result<Asked>> Find(wire::JobName name,
                                             KeptJobs::TimePoint deadline = KeptJobs::TimePoint::max());
  boost::asio::awaitable<KeptJobs::Reported> ReadReports(control::v1::JobRecord job,
                                                         KeptJobs::TimePoint deadline);
  boost::asio::awaitable<void> ReadTags(metrics::ReportQuery query, KeptJobs::Reported& reported);

  Outside outside_;
  KeptJobs kept_;
  TaskGroup tasks_;
};

}  // namespace trainyard::curves
