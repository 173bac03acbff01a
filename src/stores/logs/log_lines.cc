#include "stores/logs/log_lines.h"

#include <utility>

#include "base/async/on_pool.h"
#include "stores/logs/line_file.h"
#include "stores/logs/line_search.h"
#include "stores/logs/line_summary.h"
#include "stores/logs/line_window.h"

namespace trainyard::logs {

using control::v1::LogMatches;
using control::v1::LogSummary;
using control::v1::LogWindow;

LogLines::LogLines(std::unique_ptr<JobChunks> windows, std::unique_ptr<JobChunks> scans)
    : windows_(std::move(windows)), scans_(std::move(scans)) {}

LogLines::~LogLines() {
  window_reads_.join();
  scan_reads_.join();
}

Result<std::unique_ptr<LogLines>> LogLines::Open(const std::string& path) {
  TY_TRY(std::unique_ptr<JobChunks> windows, JobChunks::Open(path));
  TY_TRY(std::unique_ptr<JobChunks> scans, JobChunks::Open(path));
  return std::unique_ptr<LogLines>(new LogLines(std::move(windows), std::move(scans)));
}

asio::awaitable<Result<LogWindow>> LogLines::Read(WindowQuery query) {
  return OnPool(window_reads_,
                [&chunks = *windows_, query = std::move(query)] { return ReadWindow(chunks, query); });
}

asio::awaitable<Result<LogMatches>> LogLines::Search(SearchQuery query) {
  return OnPool(scan_reads_, [&chunks = *scans_, query = std::move(query)]() -> Result<LogMatches> {
    TY_TRY(const LineMatcher matcher,
           LineMatcher::Make(query.text, {.regex = query.regex, .match_case = query.match_case}));
    return SearchLines(chunks, query, matcher, SearchLimits{});
  });
}

asio::awaitable<Result<LogSummary>> LogLines::Summarize(std::int64_t job_uid, int parts) {
  return OnPool(scan_reads_,
                [&chunks = *scans_, job_uid, parts] { return SummarizeLines(chunks, job_uid, parts); });
}

asio::awaitable<Result<std::int64_t>> LogLines::Total(std::int64_t job_uid) {
  return OnPool(window_reads_, [&chunks = *windows_, job_uid] { return chunks.Total(job_uid); });
}

asio::awaitable<Result<Piece>> LogLines::Print(PieceQuery query) {
  return OnPool(scan_reads_,
                [&chunks = *scans_, query = std::move(query)] { return PrintLines(chunks, query); });
}

}  // namespace trainyard::logs
