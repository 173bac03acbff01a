#include "stores/logs/log_lines.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/wire/time.h"
#include "stores/logs/chunk_walk.h"

namespace trainyard::logs {

namespace {

using control::v1::LogSummary;

/// Adds lines, or runs of them, to the parts of a log.
class LogBuckets {
 public:
  LogBuckets(LogSummary& summary, int parts)
      : summary_(summary), lines_each_(std::max<std::int64_t>(1, (summary.total() + parts - 1) / parts)) {}

  void Add(std::int64_t first, std::int64_t lines, std::int64_t time, const SeverityCounts& counts) {
    if (summary_.buckets().empty() || first / lines_each_ != part_) {
      part_ = first / lines_each_;
      LogSummary::Bucket& next = *summary_.add_buckets();
      next.set_first(first);
      *next.mutable_time() = wire::ToProto(SysTime(std::chrono::nanoseconds(time)));
    }
    LogSummary::Bucket& bucket = *summary_.mutable_buckets(summary_.buckets_size() - 1);
    bucket.set_lines(bucket.lines() + lines);
    bucket.set_warnings(bucket.warnings() + counts.warnings);
    bucket.set_errors(bucket.errors() + counts.named_errors);
  }

 private:
  LogSummary& summary_;
  const std::int64_t lines_each_;
  std::int64_t part_ = 0;
};

Status CountLines(JobChunks& chunks, std::int64_t job_uid, LogBuckets& parts, LogSummary& summary) {
  const LineFilter all;
  ChunkWalk walk(chunks, job_uid, all, WalkDirection::kForward, 0);
  for (;;) {
    TY_TRY(const WalkedChunk* chunk, walk.Next());
    if (chunk == nullptr || chunk->place.first >= summary.total()) return {};
    TY_RETURN_IF_ERROR(chunk->ForEach(chunk->place.first, summary.total(), [&](const NumberedLine& line) {
      const SeverityCounts counts = CountSeverity(line.raw);
      if (counts.named_errors > 0 && summary.first_error() < 0) summary.set_first_error(line.number);
      parts.Add(line.number, 1, chunk->TimeOf(line), counts);
      return true;
    }));
  }
}

/// The first error of a chunk that has one, by name.
Result<std::int64_t> FirstError(JobChunks& chunks, const ChunkPlace& place) {
  TY_TRY(ChunkContents contents, chunks.Load(place.chunk));
  const WalkedChunk chunk{.place = place, .contents = std::move(contents)};
  std::int64_t first = -1;
  TY_RETURN_IF_ERROR(chunk.ForEach(place.first, place.end(), [&first](const NumberedLine& line) {
    if (CountSeverity(line.raw).named_errors > 0) first = line.number;
    return first < 0;
  }));
  return first;
}

Status CountChunks(JobChunks& chunks, std::int64_t job_uid, LogBuckets& parts, LogSummary& summary) {
  sqlite::Cursor rows = chunks.Forward(job_uid, 0);
  for (;;) {
    TY_TRY(const bool found, rows.Next());
    if (!found) return {};
    const ChunkPlace place = JobChunks::PlaceOf(rows);
    if (place.first >= summary.total()) return {};
    if (!place.counts) summary.set_partial(true);
    const SeverityCounts counts = place.counts.value_or(SeverityCounts{});
    parts.Add(place.first, place.lines, place.first_time, counts);
    if (counts.named_errors > 0 && summary.first_error() < 0) {
      TY_TRY(const std::int64_t first, FirstError(chunks, place));
      summary.set_first_error(first);
    }
  }
}

Status AddWriters(JobChunks& chunks, std::int64_t job_uid, LogSummary& summary) {
  TY_TRY(const std::vector<LineWriter> writers, chunks.Writers(job_uid));
  std::set<std::string> replicas;
  std::set<std::string> trials;
  for (const LineWriter& writer : writers) {
    replicas.insert(writer.replica);
    if (!writer.trial_id.empty()) trials.insert(writer.trial_id);
  }
  for (const std::string& replica : replicas) summary.add_replicas(replica);
  for (const std::string& trial : trials) summary.add_trial_ids(trial);
  return {};
}

}  // namespace

Result<LogSummary> SummarizeLines(JobChunks& chunks, std::int64_t job_uid, int parts) {
  LogSummary summary;
  summary.set_first_error(-1);
  TY_TRY(const std::int64_t total, chunks.Total(job_uid));
  TY_TRY(const std::int64_t bytes, chunks.Bytes(job_uid));
  summary.set_total(total);
  LogBuckets counted(summary, parts);
  const bool line_by_line = total <= kExactLinesMax && bytes <= kExactBytesMax;
  TY_RETURN_IF_ERROR(line_by_line ? CountLines(chunks, job_uid, counted, summary)
                                  : CountChunks(chunks, job_uid, counted, summary));
  TY_RETURN_IF_ERROR(AddWriters(chunks, job_uid, summary));
  return summary;
}

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

}  // namespace trainyard::logs
