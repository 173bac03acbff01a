#pragma once

#include <string>
#include <vector>

#include "trainyard/replica/v1/replica.pb.h"

/// Chunks for tests, in the form that a supervisor sends.
namespace trainyard::logs {

struct SampleLines {
  std::int64_t first_line = 0;
  std::vector<std::string> texts;
  std::uint64_t first_stamp = 1;  ///< odd
  std::uint64_t step = 2;         ///< even
};

inline replica::v1::LogChunk SampleChunk(const SampleLines& sample) {
  replica::v1::LogLines lines;
  std::uint64_t stamp = sample.first_stamp;
  for (const std::string& text : sample.texts) {
    replica::v1::LogLine& line = *lines.add_line();
    line.set_stamp(stamp);
    line.set_severity(logging::v2::LogEntry::INFO);
    line.set_text(text);
    stamp += sample.step;
  }
  replica::v1::LogChunk chunk;
  chunk.set_first_line(sample.first_line);
  chunk.set_line_count(static_cast<std::int32_t>(sample.texts.size()));
  if (!sample.texts.empty()) {
    chunk.set_first_stamp(sample.first_stamp);
    chunk.set_last_stamp(stamp - sample.step);
  }
  lines.SerializeToString(chunk.mutable_lines());
  return chunk;
}

/// "PREFIX0", "PREFIX1", ...
inline std::vector<std::string> NumberedTexts(const std::string& prefix, int count) {
  std::vector<std::string> texts;
  for (int i = 0; i < count; ++i) texts.push_back(prefix + std::to_string(i));
  return texts;
}

}  // namespace trainyard::logs
