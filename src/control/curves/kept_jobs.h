#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/async/event.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/wire/resource_name.h"
#include "control/curves/report_round.h"
#include "rules/measurement/gathered.h"
#include "stores/storage/buckets.h"

namespace trainyard::curves {

/// Where the event files of a job are.
struct JobPlace {
  std::int64_t uid = 0;
  wire::ObjectUri folder{};    ///< with a slash at its end; no bucket: none may be read
  bool splits_trials = false;  ///< it is a tuning job
  SysTime created;             ///< files written before are of another job with that folder
};

/// A job that nobody asked about for so long is forgotten.
inline constexpr std::chrono::seconds kForgottenAfter{60};
/// A job's folder is listed again at most as often.
inline constexpr std::chrono::milliseconds kListedEvery{500};
/// One question waits at most so long for bytes to be read; the next question goes on from there.
inline constexpr std::chrono::seconds kReadTimeMax{2};
/// And so long for another question about the same job.
inline constexpr std::chrono::seconds kTurnWaitMax{15};
/// Read at once, before others have a turn on the thread.
inline constexpr std::uint64_t kSliceBytes = std::uint64_t{4} << 20;
/// What is known of all jobs together. Beyond it the job that was asked about longest ago is forgotten.
inline constexpr std::size_t kBytesHeldMax = std::size_t{200} << 20;
/// Names of event files of one job. One more than are read: Gathered says then that it is not complete.
inline constexpr std::size_t kFilesKnownMax = measurement::kFilesReadMax + 1;
/// Jobs that are kept at once.
inline constexpr std::size_t kJobsHeldMax = 200;

/// The jobs that somebody looks at, with what their event files said so far. Loop thread only; files are read
/// on a thread of its own. The buckets outlive it, calls must have ended.
class KeptJobs {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// Of all jobs together, and of each.
  struct Limits {
    std::size_t bytes;
    std::size_t files;
  };
  KeptJobs(boost::asio::any_io_executor loop, storage::Buckets& buckets,
           Limits limits = {.bytes = kBytesHeldMax, .files = kFilesKnownMax});
  KeptJobs(const KeptJobs&) = delete;
  KeptJobs& operator=(const KeptJobs&) = delete;

  /// What is known of a job, brought up to date.
  struct Seen {
    const measurement::Gathered& gathered;
    bool reading = false;   ///< not everything is read yet
    std::size_t older = 0;  ///< event files from before the job
  };
  /// Runs on the thread of its own, with the job to itself.
  using Use = std::function<void(const Seen& seen)>;
  /// Curves that come from elsewhere: those of trials.
  struct Reported {
    std::vector<std::pair<measurement::SeriesName, measurement::Columns>> curves;
    ReportsKnown before;  ///< as KnownReports() said
    ReportsKnown now;
    bool is_at_end = true;  ///< no trials are left behind them
  };
  [[nodiscard]] ReportsKnown KnownReports(std::int64_t uid) const;

  /// Reads what is new, then calls `use`. What cannot be read is tried again with the next question.
  /// kUnavailable: others are asking about the same job for too long.
  /// Nothing is read after `deadline`: what is known is seen, and that there is more.
  boost::asio::awaitable<Status> Ask(JobPlace place, Reported reported, Use use,
                                     TimePoint deadline = TimePoint::max());
  /// For other work on curves.
  [[nodiscard]] boost::asio::thread_pool& thread() noexcept { return thread_; }

  /// How many jobs are kept now.
  [[nodiscard]] std::size_t size() const noexcept { return jobs_.size(); }
  /// Forgets the jobs that nobody has asked about since that moment.
  void ForgetBefore(TimePoint moment);
  /// The next question about any job lists its folder, however short ago that was done.
  void ListAgain();
  /// Forgets what nobody asks about for kForgottenAfter, until it is cancelled. Its owner runs it.
  boost::asio::awaitable<void> ForgetForEver();

 private:
  struct Job;
  using JobPtr = std::shared_ptr<Job>;

  JobPtr Find(const JobPlace& place);
  boost::asio::awaitable<void> List(JobPtr job, const JobPlace& place, TimePoint deadline);
  boost::asio::awaitable<void> ReadNew(JobPtr job, const JobPlace& place, TimePoint deadline);
  boost::asio::awaitable<bool> ReadFile(JobPtr job, const JobPlace& place, std::string object,
                                        TimePoint deadline);
  void ForgetSurplus();
  void NoteListed(Job& job, const JobPlace& place, const storage::v1::Object& object) const;

  boost::asio::any_io_executor loop_;
  storage::Buckets& buckets_;
  const Limits limits_;
  std::map<std::int64_t, JobPtr> jobs_;  ///< by uid; shared with the questions under way
  Event kept_;                           ///< there are jobs
  boost::asio::thread_pool thread_{1};
};

}  // namespace trainyard::curves
