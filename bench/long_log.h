#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/async/system_clock.h"
#include "stores/logs/log_writer.h"

/// A log of many lines, as the trainers of a job would have written it.
namespace trainyard::bench {

constexpr std::int64_t kLinesPerChunk = 1000;
constexpr std::int64_t kReplicas = 8;
/// ns of the epoch: yesterday, because servers remove logs that nobody wrote for a month. Stamps are odd
/// (stores/logs/chunk_lines.h).
inline const std::uint64_t kStart =
    static_cast<std::uint64_t>((SystemClock().Now() - std::chrono::days(1)).time_since_epoch() /
                               std::chrono::nanoseconds(1)) |
    1U;
constexpr std::uint64_t kStep = 1'000'000;  // 1,000 lines/s

/// The job whose log it is.
struct LogOwner {
  std::int64_t job_uid = 1;
  std::string project = "bench";
  std::string job_id = "job";
};

/// Writes `count` lines (a multiple of kLinesPerChunk) into the log database at `path`: one in 1,000 is a
/// warning, one in 100,000 an error.
inline void WriteLongLog(const std::string& path, const LogOwner& owner, std::int64_t count) {
  using logging::v2::LogEntry;
  const SystemClock clock;
  auto writer = logs::LogWriter::Open(path, clock).value();
  std::vector<std::int64_t> next(kReplicas);
  for (std::int64_t first = 0; first < count; first += kLinesPerChunk) {
    const auto replica = static_cast<std::size_t>(first / kLinesPerChunk % kReplicas);
    const std::string task = "worker-replica-" + std::to_string(replica);
    logs::AppendRequest request{.source = {.job_uid = owner.job_uid,
                                           .project = owner.project,
                                           .job_id = owner.job_id,
                                           .source = task,
                                           .task_name = task},
                                .chunk = {}};
    replica::v1::LogLines packed;
    for (std::int64_t i = first; i < first + kLinesPerChunk; ++i) {
      replica::v1::LogLine& line = *packed.add_line();
      line.set_stamp(kStart + static_cast<std::uint64_t>(i) * kStep);
      line.set_severity(i % 100'000 == 99'999 ? LogEntry::ERROR
                        : i % 1000 == 999     ? LogEntry::WARNING
                                              : LogEntry::INFO);
      line.set_text("step " + std::to_string(i) + ": loss 0.25, accuracy 0.75, learning rate 0.001");
    }
    request.chunk.set_first_line(next[replica]);
    request.chunk.set_line_count(kLinesPerChunk);
    request.chunk.set_first_stamp(packed.line(0).stamp());
    request.chunk.set_last_stamp(packed.line(kLinesPerChunk - 1).stamp());
    packed.SerializeToString(request.chunk.mutable_lines());
    const auto appended = writer->Append({&request, 1}).at(0);
    if (!appended) {
      std::fprintf(stderr, "%s: %s\n", path.c_str(), appended.error().message.c_str());
      std::exit(1);
    }
    next[replica] = appended->next_line;
  }
}

}  // namespace trainyard::bench
