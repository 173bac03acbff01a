#pragma once

#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "stores/logs/log_reader.h"
#include "stores/logs/log_store.h"

namespace trainyard::logs {

/// Logs in one SQLite file, a row per chunk. A thread of its own commits appended chunks in groups (one fsync
/// for all that came in the meantime); a second one reads. Loop thread only.
///
/// Lifecycle: the destructor commits what was appended, then joins both threads. The loop and the clock
/// outlive it.
class SqliteLogStore final : public LogStore {
 public:
  /// Opens or creates the file. Errors as sqlite::Database::Open.
  [[nodiscard]] static Result<std::unique_ptr<SqliteLogStore>> Open(boost::asio::io_context& loop,
                                                                    const Clock& clock,
                                                                    const std::string& path);
  ~SqliteLogStore() override;

  boost::asio::awaitable<Result<StoredLines>> Append(LogSource source, replica::v1::LogChunk chunk) override;
  boost::asio::awaitable<Result<std::int64_t>> NextLine(std::int64_t job_uid, std::string source) override;
  boost::asio::awaitable<Result<LogPage>> List(logging::v2::ListLogEntriesRequest request) override;
  boost::asio::awaitable<Result<ErasedLogs>> Erase(std::vector<std::int64_t> job_uids) override;
  boost::asio::awaitable<Result<std::int64_t>> Length(std::int64_t job_uid) override;
  void OnAppended(const void* owner, std::function<void(std::int64_t job_uid)> observer) override;

  /// Jobs with lines, the last of which is from before `before`, by uid, those above `after_uid`; at most
  /// `count`.
  boost::asio::awaitable<Result<std::vector<OldLog>>> Older(SysTime before, std::int64_t after_uid,
                                                            int count);

  /// Bytes of all lines that are stored, by project.
  boost::asio::awaitable<Result<std::map<std::string, std::int64_t>>> ProjectBytes();

 private:
  struct Impl;
  explicit SqliteLogStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainyard::logs
