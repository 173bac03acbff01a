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
#include "base/clock.h"
#include "base/result.h"
#include "trainyard/logging/v2/logging.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::logs {

/// The writer of lines: one attempt of one replica, or the service itself (source "service", task name
/// "service").
struct LogSource {
  std::int64_t job_uid = 0;
  std::string project;
  std::string job_id;
  std::string source;     ///< attempt id, or "service": lines are numbered within it
  std::string task_name;  ///< "master-replica-0"
  std::string trial_id;   ///< empty outside tuning
  std::string host_name;  ///< compute.googleapis.com/resource_name; empty for the service
  friend bool operator==(const LogSource&, const LogSource&) = default;
};

/// What is durable after a chunk was appended.
struct StoredLines {
  std::int64_t next_line = 0;  ///< the number of the source's next line
  std::int64_t job_bytes = 0;  ///< of all lines of the job, from all sources
  friend bool operator==(const StoredLines&, const StoredLines&) = default;
};

/// The result of erasing.
struct ErasedLogs {
  std::int64_t jobs = 0;   ///< jobs that had lines and have none any more
  std::int64_t bytes = 0;  ///< of their lines, as LogStore keeps them
  friend bool operator==(const ErasedLogs&, const ErasedLogs&) = default;
};

/// A page of entries in (timestamp, insertId) order.
struct LogPage {
  std::vector<logging::v2::LogEntry> entries;
  std::string
      next_page_token;  ///< independent of the page size: gcloud asks for the next page with a smaller one
};

class LogReader;

/// Log lines of all jobs in one SQLite file: appended in chunks, one row each, stored unchanged, indexed by
/// job and time. One thread commits appended chunks in groups (one fsync for all that arrived in the
/// meantime); a second one reads. Loop thread only.
///
/// Lifecycle: the destructor commits what was appended, then joins both threads. The loop and the clock
/// outlive it.
///
/// Timestamps returned strictly increase within a job in order of arrival: line i of a chunk gets max(its own
/// stamp, floor + 2*(i+1)), where floor is the job's last timestamp before the chunk. All are odd, so JSON
/// prints nine digits. Insert ids are the job's line number at fixed width. (Clients compare both as text:
/// spec wire.md section 6.)
class LogStore {
 public:
  /// Opens or creates the file. Errors as sqlite::Database::Open.
  [[nodiscard]] static Result<std::unique_ptr<LogStore>> Open(boost::asio::io_context& loop,
                                                              const Clock& clock, const std::string& path);
  virtual ~LogStore();
  LogStore& operator=(LogStore&&) = delete;

  /// Makes the chunk durable. Lines that are stored already are not stored again: a supervisor repeats chunks
  /// that were not acknowledged. kInvalidArgument with field "log": a gap before first_line, or a chunk that
  /// violates replica.proto. Virtual so that tests can make it fail.
  virtual boost::asio::awaitable<Result<StoredLines>> Append(LogSource source, replica::v1::LogChunk chunk);

  /// How many lines of the source are durable.
  boost::asio::awaitable<Result<std::int64_t>> NextLine(std::int64_t job_uid, std::string source);

  /// The same for this source of each of the jobs. Virtual so that tests can make it fail.
  virtual boost::asio::awaitable<Result<std::vector<std::int64_t>>> NextLines(
      std::vector<std::int64_t> job_uids, std::string source);

  /// entries:list. Errors: kInvalidArgument with field "filter", "page_token", "page_size", "order_by" or
  /// "resource_names".
  /// A page may be short, even empty, and still have a token: the search is bounded; continue with the token.
  boost::asio::awaitable<Result<LogPage>> List(logging::v2::ListLogEntriesRequest request);

  /// Erases all lines of jobs that have ended. In steps, with other writes in between; durable when it
  /// returns. A killed server may leave some of a job's lines: erase them again.
  boost::asio::awaitable<Result<ErasedLogs>> Erase(std::vector<std::int64_t> job_uids);

  /// How many lines of the job are durable.
  boost::asio::awaitable<Result<std::int64_t>> Length(std::int64_t job_uid);

  /// Calls the observer on the loop whenever lines of a job became durable, before Append returns: for live
  /// tails. Each owner has one observer: a new one replaces the previous one, null removes it. It must not
  /// block.
  void OnAppended(const void* owner, std::function<void(std::int64_t job_uid)> observer);

  /// Runs `work` on the reader's thread: `logs.Read([](LogReader& reader) { ... })`.
  template <class Work>
  auto Read(Work work) {
    return OnPool(reads(), [&reader = reader(), work = std::move(work)]() mutable { return work(reader); });
  }

 protected:
  LogStore(LogStore&&) noexcept;

 private:
  struct Impl;
  explicit LogStore(std::unique_ptr<Impl> impl);
  boost::asio::thread_pool& reads() noexcept;
  LogReader& reader() noexcept;

  std::unique_ptr<Impl> impl_;
};

}  // namespace trainyard::logs
