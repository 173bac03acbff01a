#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trainyard/replica/v1/replica.pb.h"

/// The lines of a chunk, read from their serialized form one by one. Pure: any thread.
namespace trainyard::logs {

inline constexpr std::int32_t kChunkLinesMax = 100'000;
inline constexpr std::size_t kChunkBytesMax = std::size_t{16} << 20;

/// One line of a serialized LogLines; `bytes` is a serialized LogLine and lies within the chunk's text.
struct RawLine {
  std::uint64_t stamp = 0;
  std::string_view bytes;
};

/// Walks through a serialized LogLines whose every line begins with its stamp (field order, as protobuf
/// writes it).
class LineReader {
 public:
  explicit LineReader(std::string_view lines) : rest_(lines) {}
  /// Absent at the end and at the first malformed byte; Damaged() is true in the second case.
  [[nodiscard]] std::optional<RawLine> Next();
  [[nodiscard]] bool Damaged() const noexcept { return damaged_; }

 private:
  std::string_view rest_;
  bool damaged_ = false;
};

/// The line's severity, read from where protobuf writes it: right after the stamp. DEFAULT if it is absent.
[[nodiscard]] logging::v2::LogEntry::Severity SeverityOf(const RawLine& line) noexcept;

/// The numbers of warnings and errors.
struct SeverityCounts {
  std::int64_t warnings = 0;      ///< of WARNING
  std::int64_t errors = 0;        ///< of ERROR and above
  std::int64_t named_errors = 0;  ///< those that are not ERROR only because they were written to stderr
  friend bool operator==(const SeverityCounts&, const SeverityCounts&) = default;
};
[[nodiscard]] SeverityCounts CountSeverity(const RawLine& line);
[[nodiscard]] SeverityCounts CountSeverities(std::string_view lines);

/// Checks that the chunk is what the protocol promises: as many lines as announced, stamps odd and strictly
/// increasing, first and last stamp as announced, within the limits above. kInvalidArgument with field "log".
/// Source: replica.proto, LogChunk.
[[nodiscard]] Status CheckChunk(const replica::v1::LogChunk& chunk);

/// The chunk without its first `drop` lines, in pieces that each span at most `span_max` between first and
/// last stamp. The chunk has passed CheckChunk and 0 <= drop < line_count.
[[nodiscard]] std::vector<replica::v1::LogChunk> CutChunk(const replica::v1::LogChunk& chunk,
                                                          std::int64_t drop, std::uint64_t span_max);

/// The timestamp that line `index` of a chunk is shown with: its own stamp, or more, so that timestamps
/// strictly increase within the job. `floor` is the job's last timestamp before the chunk (odd; -1 before the
/// first line). Source: log_store.h; clients drop entries whose timestamps do not increase (docs/spec
/// "Logs").
[[nodiscard]] constexpr std::int64_t ShownTime(std::uint64_t stamp, std::int64_t floor, std::int64_t index) {
  const std::int64_t own = static_cast<std::int64_t>(stamp);
  const std::int64_t least = floor + 2 * (index + 1);
  return own > least ? own : least;
}

}  // namespace trainyard::logs
