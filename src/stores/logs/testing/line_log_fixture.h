#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stores/logs/job_chunks.h"
#include "stores/logs/testing/log_file_fixture.h"

/// One job's log, read by line numbers, for tests.
namespace trainyard::logs {

using Severity = logging::v2::LogEntry::Severity;

struct SampleLine {
  std::string text;
  Severity severity = logging::v2::LogEntry::INFO;
  bool severity_of_stream = false;
};

class LineLogTest : public LogFileTest {
 protected:
  void SetUp() override {
    LogFileTest::SetUp();
    chunks_ = JobChunks::Open(folder_ + "/logs.db").value();
  }
  void TearDown() override {
    chunks_.reset();
    LogFileTest::TearDown();
  }

  /// A chunk of `lines` of job 1, stamped from `stamp` on in steps of 2.
  void Write(const std::string& replica, std::uint64_t stamp, const std::vector<SampleLine>& lines,
             const std::string& trial = "") {
    replica::v1::LogLines packed;
    for (const SampleLine& line : lines) {
      replica::v1::LogLine& added = *packed.add_line();
      added.set_stamp(stamp + 2 * static_cast<std::uint64_t>(packed.line_size() - 1));
      added.set_severity(line.severity);
      added.set_text(line.text);
      added.set_severity_of_stream(line.severity_of_stream);
    }
    WritePacked(replica, packed, trial);
  }

  void WritePacked(const std::string& replica, const replica::v1::LogLines& packed,
                   const std::string& trial = "") {
    AppendRequest request{.source = SampleSource(1, replica)};
    request.source.source += trial;
    request.source.trial_id = trial;
    request.chunk.set_first_line(next_[request.source.source]);
    request.chunk.set_line_count(packed.line_size());
    request.chunk.set_first_stamp(packed.line(0).stamp());
    request.chunk.set_last_stamp(packed.line(packed.line_size() - 1).stamp());
    packed.SerializeToString(request.chunk.mutable_lines());
    next_[request.source.source] += packed.line_size();
    const Result<Appended> appended = writer_->Append({&request, 1}).at(0);
    ASSERT_TRUE(appended) << appended.error().message;
  }

  /// Two replicas in turn, `per_chunk` lines at a time: "line 0", "line 1", ...; each tenth is a WARNING,
  /// each hundredth an ERROR.
  void WriteMany(int lines, int per_chunk) {
    for (int first = 0; first < lines; first += per_chunk) {
      std::vector<SampleLine> chunk;
      for (int i = first; i < std::min(lines, first + per_chunk); ++i) {
        const Severity severity = i % 100 == 99 ? logging::v2::LogEntry::ERROR
                                  : i % 10 == 9 ? logging::v2::LogEntry::WARNING
                                                : logging::v2::LogEntry::INFO;
        chunk.push_back({.text = "line " + std::to_string(i), .severity = severity});
      }
      const std::string replica = "worker-replica-" + std::to_string(first / per_chunk % 2);
      Write(replica, kStart + static_cast<std::uint64_t>(first) * 1000, chunk);
    }
  }

  static constexpr std::uint64_t kStart = 1'700'000'000'000'000'001;
  std::unique_ptr<JobChunks> chunks_;

 private:
  std::map<std::string, std::int64_t> next_;
};

}  // namespace trainyard::logs
