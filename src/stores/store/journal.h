#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/async/on_pool.h"
#include "stores/store/job_store.h"

namespace trainyard::store {

/// The job store for the loop. Writes go to one thread that commits them in groups and posts ONE completion
/// per group to the loop; reads go to a second connection on another thread. Loop thread only. The destructor
/// finishes the writes under way, then joins both threads. If a commit fails (full disk), every caller of the
/// group gets the error, and nothing of the group is stored.
class Journal {
 public:
  /// `writer` and `reader` may be the same store; both outlive the journal.
  Journal(boost::asio::io_context& loop, JobStore& writer, JobStore& reader);
  ~Journal();

  /// A uid for the next job: larger than that of any job so far. A uid of a job that is never stored may be
  /// given again by the next server. Errors: the store could not be read when the journal was made.
  [[nodiscard]] Result<std::int64_t> NextUid();

  /// Durable when it returns. Result and errors as JobStore::Create.
  boost::asio::awaitable<Result<std::int64_t>> Create(JobRecord record, std::vector<Event> events);
  /// Durable when it returns. Errors as JobStore::Append.
  boost::asio::awaitable<Status> Append(JobRecord after, std::vector<Event> events);

  /// As in JobStore; durable when they return.
  boost::asio::awaitable<Result<std::int64_t>> BeginRemoval(std::vector<std::int64_t> uids);
  boost::asio::awaitable<Result<std::int64_t>> EraseRemoved(std::vector<std::int64_t> uids,
                                                            std::int64_t rows_max);
  /// Runs `work` on the reader's thread: `journal.Read([id](JobStore& jobs) { return jobs.Get(id); })`.
  template <class Work>
  auto Read(Work work) {
    return OnPool(reads(), [&store = reader(), work = std::move(work)]() mutable { return work(store); });
  }

  /// `project`: that of the changed job; empty: of any.
  using Observer = std::function<void(const std::string& project)>;
  /// Calls the observer on the loop after each write that Changed may report, for as long as the returned
  /// pointer lives. It must not block.
  [[nodiscard]] std::shared_ptr<const Observer> OnChange(Observer observer);

 private:
  class Impl;
  boost::asio::thread_pool& reads() noexcept;
  JobStore& reader() noexcept;

  std::unique_ptr<Impl> impl_;
};

}  // namespace trainyard::store
