#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "stores/logs/job_chunks.h"
#include "stores/logs/line_matcher.h"
#include "stores/logs/line_query.h"
#include "trainyard/control/v1/log_window.pb.h"

namespace trainyard::logs {

/// Jobs' logs by line numbers: windows, searches, summaries and downloads. A job without lines has an empty
/// log.
///
/// Loop thread only. Windows are read on one thread, everything that takes longer on another one, so that
/// scrolling does not wait for searches. The destructor waits for work under way; calls must have ended.
class LogLines {
 public:
  /// `path`: the file of a LogStore, which exists. Errors as sqlite::Database::Open.
  [[nodiscard]] static Result<std::unique_ptr<LogLines>> Open(const std::string& path);
  ~LogLines();

  /// As ReadWindow.
  boost::asio::awaitable<Result<control::v1::LogWindow>> Read(WindowQuery query);
  /// As SearchLines. kInvalidArgument with field "query", as LineMatcher::Make.
  boost::asio::awaitable<Result<control::v1::LogMatches>> Search(SearchQuery query);
  /// As SummarizeLines.
  boost::asio::awaitable<Result<control::v1::LogSummary>> Summarize(std::int64_t job_uid, int parts);
  /// The number of lines.
  boost::asio::awaitable<Result<std::int64_t>> Total(std::int64_t job_uid);
  /// As PrintLines.
  boost::asio::awaitable<Result<Piece>> Print(PieceQuery query);

 private:
  LogLines(std::unique_ptr<JobChunks> windows, std::unique_ptr<JobChunks> scans);

  std::unique_ptr<JobChunks> windows_;  ///< used on window_reads_ only
  std::unique_ptr<JobChunks> scans_;    ///< used on scan_reads_ only
  boost::asio::thread_pool window_reads_{1};
  boost::asio::thread_pool scan_reads_{1};
};

}  // namespace trainyard::logs
