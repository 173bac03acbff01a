#include "stores/logs/chunk_lines.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "base/check.h"
#include "stores/logs/line_view.h"

namespace trainyard::logs {

namespace {

constexpr char kLineTag = 0x0a;      // LogLines.line: field 1, length-delimited
constexpr char kStampTag = 0x09;     // LogLine.stamp: field 1, fixed64
constexpr char kSeverityTag = 0x10;  // LogLine.severity: field 2, varint
constexpr std::size_t kStampBytes = 1 + sizeof(std::uint64_t);
constexpr std::uint64_t kStampMax = std::uint64_t{1} << 62;  // the year 2116; ShownTime may be later

/// A length of at most 28 bits, taken from the front.
std::optional<std::size_t> TakeLength(std::string_view& bytes) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4 && i < bytes.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    length |= static_cast<std::size_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      return length;
    }
  }
  return std::nullopt;
}

Status Malformed(std::string message) {
  return std::unexpected(InvalidArgument("log", "malformed log chunk: " + message));
}

void AddLine(replica::v1::LogChunk& piece, const RawLine& line) {
  if (piece.line_count() == 0) piece.set_first_stamp(line.stamp);
  piece.set_last_stamp(line.stamp);
  piece.set_line_count(piece.line_count() + 1);
  std::string& lines = *piece.mutable_lines();
  lines += kLineTag;
  std::size_t length = line.bytes.size();
  for (; length >= 0x80; length >>= 7) lines += static_cast<char>(length | 0x80);
  lines += static_cast<char>(length);
  lines += line.bytes;
}

}  // namespace

std::optional<RawLine> LineReader::Next() {
  if (rest_.empty() || damaged_) return std::nullopt;
  damaged_ = true;
  if (rest_.front() != kLineTag) return std::nullopt;
  rest_.remove_prefix(1);
  const std::optional<std::size_t> length = TakeLength(rest_);
  if (!length || *length > rest_.size() || *length < kStampBytes || rest_.front() != kStampTag)
    return std::nullopt;
  damaged_ = false;
  RawLine line{0, rest_.substr(0, *length)};
  static_assert(std::endian::native == std::endian::little);
  std::memcpy(&line.stamp, line.bytes.data() + 1, sizeof line.stamp);
  rest_.remove_prefix(*length);
  return line;
}

logging::v2::LogEntry::Severity SeverityOf(const RawLine& line) noexcept {
  using logging::v2::LogEntry;
  const std::string_view rest = line.bytes.substr(std::min(kStampBytes, line.bytes.size()));
  if (rest.size() < 2 || rest[0] != kSeverityTag || !LogEntry::Severity_IsValid(rest[1]))
    return LogEntry::DEFAULT;
  return static_cast<LogEntry::Severity>(rest[1]);
}

SeverityCounts CountSeverity(const RawLine& line) {
  using logging::v2::LogEntry;
  const LogEntry::Severity severity = SeverityOf(line);
  if (severity == LogEntry::WARNING) return {.warnings = 1};
  if (severity < LogEntry::ERROR) return {};
  const std::optional<LineView> view = ViewLine(line.bytes);
  return {.errors = 1, .named_errors = view && view->severity_of_stream ? 0 : 1};
}

SeverityCounts CountSeverities(std::string_view lines) {
  SeverityCounts counts;
  LineReader reader(lines);
  for (std::optional<RawLine> line = reader.Next(); line; line = reader.Next()) {
    const SeverityCounts one = CountSeverity(*line);
    counts.warnings += one.warnings;
    counts.errors += one.errors;
    counts.named_errors += one.named_errors;
  }
  return counts;
}

Status CheckChunk(const replica::v1::LogChunk& chunk) {
  if (chunk.first_line() < 0 || chunk.line_count() < 0 || chunk.line_count() > kChunkLinesMax) {
    return Malformed("line numbers out of range");
  }
  if (chunk.lines().size() > kChunkBytesMax) return Malformed("too large");
  std::int64_t count = 0;
  std::uint64_t last = 0;
  LineReader reader(chunk.lines());
  for (std::optional<RawLine> line = reader.Next(); line; line = reader.Next()) {
    if (line->stamp % 2 == 0 || line->stamp <= last || line->stamp > kStampMax) return Malformed("stamps");
    if (count++ == 0 && line->stamp != chunk.first_stamp()) return Malformed("first stamp");
    last = line->stamp;
  }
  if (reader.Damaged()) return Malformed("lines");
  if (count != chunk.line_count()) return Malformed("line count");
  if (count > 0 && last != chunk.last_stamp()) return Malformed("last stamp");
  return {};
}

std::vector<replica::v1::LogChunk> CutChunk(const replica::v1::LogChunk& chunk, std::int64_t drop,
                                            std::uint64_t span_max) {
  TY_CHECK(drop >= 0 && drop < chunk.line_count());
  std::vector<replica::v1::LogChunk> pieces;
  LineReader reader(chunk.lines());
  std::int64_t index = 0;
  for (std::optional<RawLine> line = reader.Next(); line; line = reader.Next(), ++index) {
    if (index < drop) continue;
    if (pieces.empty() || line->stamp - pieces.back().first_stamp() > span_max) {
      pieces.emplace_back().set_first_line(chunk.first_line() + index);
    }
    AddLine(pieces.back(), *line);
  }
  return pieces;
}

}  // namespace trainyard::logs
