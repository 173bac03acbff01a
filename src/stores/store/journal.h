#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stores/store/job_store.h"

namespace trainyard::store {

/// The job store as the loop uses it. Writes go to one thread that commits them in groups and posts ONE
/// completion per group to the loop; reads go to a second connection on a thread of their own. Called on the
/// loop thread only. The destructor finishes the writes under way, then joins both threads. A write whose
/// commit failed (full disk) reports the error to every caller of the group, and nothing of the group is
/// stored.
class Journal {
 public:
  /// `writer` and `reader` may be the same store (memory); both outlive the journal.
  Journal(boost::asio::io_context& loop, JobStore& writer, JobStore& reader);
  ~Journal();

  /// Durable when it returns. Result and errors as JobStore::Create.
  boost::asio::awaitable<Result<std::int64_t>> Create(JobRecord record, Event created);
  /// Durable when it returns. Errors as JobStore::Append.
  boost::asio::awaitable<Status> Append(JobRecord after, Event event);

  /// As in JobStore; durable when they return.
  boost::asio::awaitable<Result<std::int64_t>> BeginRemoval(std::vector<std::int64_t> uids);
  boost::asio::awaitable<Result<std::int64_t>> EraseRemoved(std::vector<std::int64_t> uids,
                                                            std::int64_t rows_max);
  boost::asio::awaitable<Result<std::vector<std::int64_t>>> Removing(int count);
  boost::asio::awaitable<Result<std::vector<FinishedJob>>> Finished(FinishedQuery query);

  /// As JobStore::RecentProjects.
  boost::asio::awaitable<Result<std::vector<std::string>>> RecentProjects(int count);
  boost::asio::awaitable<Result<JobRecord>> Get(std::string project, std::string job_id);
  boost::asio::awaitable<Result<JobPage>> List(std::string project, int page_size, std::string page_token);
  /// Which jobs of a long history are wanted.
  struct Selection {
    std::function<bool(JobRecord&)> wanted;  ///< runs on the reader's thread; may complete the record
    int looked_at_max = 0;                   ///< in one call
  };
  /// As List, but only the wanted jobs. If few are wanted, a page may be short or empty and still have a next
  /// one.
  boost::asio::awaitable<Result<JobPage>> List(std::string project, int page_size, std::string page_token,
                                               Selection selection);
  /// All trials of a tuning job, in the order of their creation.
  boost::asio::awaitable<Result<std::vector<JobRecord>>> Trials(std::int64_t tuning_uid);
  /// As JobStore::Trials.
  boost::asio::awaitable<Result<std::vector<JobRecord>>> Trials(std::int64_t tuning_uid,
                                                                std::int64_t after_uid, int count);
  /// A job that changed, as it is now.
  struct ChangedJob {
    std::string job_id;
    std::optional<JobRecord> job;        ///< nothing: it was deleted
    std::vector<std::string> trial_ids;  ///< of its trials that changed
  };
  struct ChangedJobs {
    std::vector<ChangedJob> jobs;  ///< each once
    std::string resume_token;
    bool more = false;
  };
  /// As JobStore::Changed.
  boost::asio::awaitable<Result<ChangedJobs>> Changed(std::string project, std::string resume_token,
                                                      int count);
  /// As JobStore::ResumeToken.
  boost::asio::awaitable<Result<std::string>> ResumeToken(std::string project);
  /// Calls the observer on the loop after each write that Changed may tell of. `project`: of its job; empty:
  /// of any. It replaces the previous observer, and must not block.
  void OnChange(std::function<void(const std::string& project)> observer);

  boost::asio::awaitable<Result<std::vector<JobRecord>>> Unfinished();
  boost::asio::awaitable<Result<std::vector<Event>>> Events(std::int64_t uid, std::int64_t after_seq);
  /// As JobStore::EventPage.
  boost::asio::awaitable<Result<std::vector<Event>>> EventPage(std::int64_t uid, std::int64_t after_seq,
                                                               int count);
  /// As JobStore::GetTrial.
  boost::asio::awaitable<Result<JobRecord>> GetTrial(std::string project, std::string job_id,
                                                     std::string trial_id);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainyard::store
