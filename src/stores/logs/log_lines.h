#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/async/on_pool.h"
#include "base/result.h"
#include "stores/logs/job_chunks.h"
#include "stores/logs/line_query.h"
#include "trainyard/control/v1/log_window.pb.h"

namespace trainyard::logs {

/// Bytes of lines that one window has at most, except that its first line may be longer.
inline constexpr std::size_t kWindowBytesMax = std::size_t{2} << 20;
/// Bytes of lines that are read for one window: some 50 ms.
inline constexpr std::int64_t kWindowBytesSeenMax = std::int64_t{64} << 20;

/// Reads a window of a job's lines. The walk is bounded: with a filter a window may be short, even empty, and
/// have a `next` (or `previous`) from which to continue. A job without lines has an empty window. One thread;
/// blocks. Errors: those of JobChunks.
[[nodiscard]] Result<control::v1::LogWindow> ReadWindow(JobChunks& chunks, const WindowQuery& query);

/// Looks for lines whose text matches, from query.from on (backward: before it), until there are query.count
/// of them or a limit is reached. Lines of chunks that cannot match are not unpacked. One thread; blocks.
/// Errors: kInvalidArgument with field "query", as LineMatcher::Make; those of JobChunks.
[[nodiscard]] Result<control::v1::LogMatches> SearchLines(JobChunks& chunks, const SearchQuery& query,
                                                          SearchLimits limits = {});

/// A log up to this size is counted line by line: then its parts have the requested length, and lines stored
/// by an earlier version are counted too. Some 50 ms.
inline constexpr std::int64_t kExactLinesMax = 200'000;
inline constexpr std::int64_t kExactBytesMax = std::int64_t{32} << 20;

/// Counts a job's lines by severity in about `parts` parts (at least 1). For a longer log the chunks' counts
/// are added up, and a chunk belongs to the part that its first line is in. A job without lines has no parts.
/// One thread; blocks. Errors: those of JobChunks.
[[nodiscard]] Result<control::v1::LogSummary> SummarizeLines(JobChunks& chunks, std::int64_t job_uid,
                                                             int parts);

/// A piece ends with the line that makes it this long.
inline constexpr std::size_t kPieceBytesMin = std::size_t{512} << 10;
/// Limit on the bytes of lines that are read for one piece: if few lines match, others wait for the thread.
inline constexpr std::size_t kPieceBytesSeenMax = std::size_t{16} << 20;

/// Prints whole lines for a download.
///
/// Text: "TIME SEVERITY REPLICA TEXT", one line each; if a text has several lines, all but the first begin
/// with a tab, so that no text can look like a separate line. JSON: one object per line, with the names of
/// control.v1.LogLineShown.
///
/// One thread; blocks. kAborted: the log was erased in the meantime; otherwise the errors of JobChunks.
[[nodiscard]] Result<Piece> PrintLines(JobChunks& chunks, const PieceQuery& query);

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

  /// Runs work of milliseconds on a thread of its own: `lines.Read([&](JobChunks& chunks) { ... })`.
  template <class Work>
  auto Read(Work work) {
    return OnPool(window_reads_, [this, work = std::move(work)]() mutable { return work(*windows_); });
  }
  /// The same for work that takes longer.
  template <class Work>
  auto Scan(Work work) {
    return OnPool(scan_reads_, [this, work = std::move(work)]() mutable { return work(*scans_); });
  }

 private:
  LogLines(std::unique_ptr<JobChunks> windows, std::unique_ptr<JobChunks> scans);

  std::unique_ptr<JobChunks> windows_;  ///< used on window_reads_ only
  std::unique_ptr<JobChunks> scans_;    ///< used on scan_reads_ only
  boost::asio::thread_pool window_reads_{1};
  boost::asio::thread_pool scan_reads_{1};
};

}  // namespace trainyard::logs
