#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/turns.h"
#include "control/views/job_listing.h"
#include "trainyard/control/v1/job_rows.pb.h"

namespace trainyard::control {

/// One client's view of the changes of a project's jobs. Keeps only a position in the sequence of all
/// changes: a slow client skips intermediate states and gets the current one. Loop thread only.
class JobWatch {
 public:
  virtual ~JobWatch() = default;
  /// Waits for changes since the last call; the first answer may be without changes. Nothing after
  /// `wait_max`. One call at a time. An error (the store's) ends the watch.
  virtual boost::asio::awaitable<Result<std::optional<v1::JobChanges>>> Next(
      std::chrono::steady_clock::duration wait_max) = 0;
};

/// All watches of jobs. Writes wake them, and each reads for itself: an idle one costs memory, but no time.
/// Only a few read at a time (Turns). Loop thread only.
///
/// Lifecycle: observes the journal and the log store, which outlive it. Watches may outlive it, and are then
/// no longer woken.
class JobWatches {
 public:
  static constexpr std::chrono::milliseconds kChangesInterval{100};  ///< between two reads for one client
  static constexpr std::chrono::milliseconds kLogsInterval{200};     ///< between two answers about logs
  static constexpr int kChangesMax = 200;                            ///< in one answer
  static constexpr std::size_t kLogsMax = 20;      ///< jobs whose logs one client may follow
  static constexpr std::size_t kTouchedMax = 200;  ///< see Toucher; per answer, the others come next
  static constexpr std::size_t kReadingAtOnce = 4;

  /// ErrorInfo::reason of a resume token from which a watch cannot continue: list the jobs again.
  static constexpr std::string_view kListAgain = store::kListAgain;

  /// All outlive it.
  JobWatches(const Collaborators& outside, JobPresenter& presenter, JobListing& listing);
  ~JobWatches();
  JobWatches(const JobWatches&) = delete;
  JobWatches& operator=(const JobWatches&) = delete;

  struct Query {
    std::string project;
    std::string filter;                ///< as in lists: a job that does not match is reported without its row
    std::string resume_token;          ///< empty: from now on
    std::vector<std::string> logs_of;  ///< jobs; unknown ones are ignored
  };
  /// kInvalidArgument with field "filter", "logs_of" or "resume_token"; kFailedPrecondition with reason
  /// kListAgain.
  boost::asio::awaitable<Result<std::shared_ptr<JobWatch>>> Start(Query query);

  /// To be called when displayed data of a job changed that is not recorded: why it waits. Each connected
  /// client is told once per job until it has read it. May be called after this object is destroyed.
  [[nodiscard]] std::function<void(const v1::JobRecord& job)> Toucher() const;

 private:
  class Live;
  struct Listeners;

  const Collaborators& outside_;
  JobPresenter& presenter_;
  JobListing& listing_;
  std::shared_ptr<Listeners> listeners_;  ///< shared: a watch removes itself whenever it ends
  std::shared_ptr<const store::Journal::Observer> observing_;
  Turns turns_;
};

}  // namespace trainyard::control
