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
#include "rules/measurement/gathered.h"
#include "stores/storage/buckets.h"

namespace trainyard::curves {

/// Trials whose reports are read for one request.
inline constexpr std::size_t kTrialsReadMax = 1'000;

/// How far the reports of a job's trials were read. Trials are given by their uid.
struct ReportsKnown {
  std::int64_t until = 0;  ///< all trials up to this one have ended and are read: they do not change any more
  std::int64_t next = 0;   ///< the last round ended after this one, with trials left; 0: none were left
  friend bool operator==(const ReportsKnown&, const ReportsKnown&) = default;
};

/// Chooses the trials that one request reads: some after those that do not change any more; the next request
/// continues from there, and after the last trial it begins again. So a first trial that runs for days does
/// not delay later ones. Pure. One thread at a time.
class ReportRound {
 public:
  explicit ReportRound(ReportsKnown known)
      : known_(known),
        at_(known.next > known.until ? known.next : known.until),
        is_first_(at_ == known.until) {}

  /// The next trials are those after this one.
  [[nodiscard]] std::int64_t after() const noexcept { return at_; }
  [[nodiscard]] bool IsFull() const noexcept { return read_ >= kTrialsReadMax; }
  /// Trials must come in order of their uids.
  void Take(std::int64_t trial, bool has_ended) {
    ++read_;
    at_ = trial;
    is_first_ = is_first_ && has_ended;
    if (is_first_) known_.until = trial;
  }
  /// The progress so far. `is_at_end`: there are no trials after after().
  [[nodiscard]] ReportsKnown Known(bool is_at_end) const {
    return {.until = known_.until, .next = is_at_end ? 0 : at_};
  }

 private:
  ReportsKnown known_;
  std::int64_t at_;
  bool is_first_;  ///< all after `until` have ended so far
  std::size_t read_ = 0;
};

/// The location of a job's event files.
struct JobPlace {
  std::int64_t uid = 0;
  wire::ObjectUri folder{};    ///< with a slash at its end; no bucket: none may be read
  bool splits_trials = false;  ///< it is a tuning job
  SysTime created;             ///< files written earlier belong to another job with the same directory
};

/// A job that was not asked about for so long is forgotten.
inline constexpr std::chrono::seconds kForgottenAfter{60};
/// A job's directory is listed again at most this often.
inline constexpr std::chrono::milliseconds kListedEvery{500};
/// One request waits at most this long for bytes to be read; the next request continues from there.
inline constexpr std::chrono::seconds kReadTimeMax{2};
/// How long a request waits for another request about the same job.
inline constexpr std::chrono::seconds kTurnWaitMax{15};
/// Bytes read at a time, before other work gets its turn on the thread.
inline constexpr std::uint64_t kSliceBytes = std::uint64_t{4} << 20;
/// Limit for the data of all jobs together. Beyond it the least recently used job is forgotten.
inline constexpr std::size_t kBytesHeldMax = std::size_t{200} << 20;
/// Limit on names of event files of one job. One more than are read: then Gathered says that it is
/// incomplete.
inline constexpr std::size_t kFilesKnownMax = measurement::kFilesReadMax + 1;
/// Limit on cached jobs.
inline constexpr std::size_t kJobsHeldMax = 200;

/// Cache of recently viewed jobs, with what their event files contained so far. Loop thread only; files are
/// read on a separate thread. The buckets outlive it; calls must have ended before it is destroyed.
class KeptJobs {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// For all jobs together (bytes), and for each job (files).
  struct Limits {
    std::size_t bytes;
    std::size_t files;
  };
  KeptJobs(boost::asio::any_io_executor loop, storage::Buckets& buckets,
           Limits limits = {.bytes = kBytesHeldMax, .files = kFilesKnownMax});
  KeptJobs(const KeptJobs&) = delete;
  KeptJobs& operator=(const KeptJobs&) = delete;

  /// The state of a job's data after an update.
  struct CurveState {
    const measurement::Gathered& gathered;
    bool reading = false;   ///< more is left to be read
    std::size_t older = 0;  ///< event files that are older than the job
  };
  /// Runs on the separate thread, with exclusive access to the job.
  using Use = std::function<void(const CurveState& seen)>;
  /// Curves from another source: those that trials reported.
  struct ReportedCurves {
    std::vector<std::pair<measurement::SeriesName, measurement::Columns>> curves;
    ReportsKnown before;  ///< as returned by KnownReports()
    ReportsKnown now;
    bool is_at_end = true;  ///< there are no further trials after these
  };
  [[nodiscard]] ReportsKnown KnownReports(std::int64_t uid) const;

  /// Reads what is new, then calls `use`. What cannot be read is retried by the next request. kUnavailable:
  /// other requests about the same job take too long. Nothing is read after `deadline`: then `use` gets what
  /// is known, with `reading` set.
  boost::asio::awaitable<Status> Ask(JobPlace place, ReportedCurves reported, Use use,
                                     TimePoint deadline = TimePoint::max());
  /// The thread for other work on curves.
  [[nodiscard]] boost::asio::thread_pool& thread() noexcept { return thread_; }

  /// The number of cached jobs.
  [[nodiscard]] std::size_t size() const noexcept { return jobs_.size(); }
  /// Forgets the jobs that were not asked about since that moment.
  void ForgetBefore(TimePoint moment);
  /// Makes the next request about any job list its directory, even if that was done recently.
  void ListAgain();
  /// Forgets jobs that were not asked about for kForgottenAfter; runs until it is cancelled. The owner runs
  /// it.
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
  std::map<std::int64_t, JobPtr> jobs_;  ///< by uid; shared with the requests under way
  Event kept_;                           ///< set while there are jobs
  boost::asio::thread_pool thread_{1};
};

}  // namespace trainyard::curves
