#include "stores/logs/line_view.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/wire/time.h"
#include "base/wire/utf8.h"
#include "stores/logs/line_query.h"

namespace trainyard::logs {
namespace {

using logging::v2::LogEntry;

// Source: replica.proto, LogLine; protobuf's encoding.
constexpr char kStampTag = 0x09;     // field 1, fixed64
constexpr char kSeverityTag = 0x10;  // field 2, varint
constexpr char kTextTag = 0x1a;      // field 3, length-delimited
constexpr char kJsonTag = 0x22;      // field 4, length-delimited
constexpr char kOfStreamTag = 0x28;  // field 5, varint
constexpr std::size_t kStampBytes = sizeof(std::uint64_t);

std::optional<std::size_t> TakeVarint(std::string_view& bytes) {
  std::size_t value = 0;
  for (std::size_t i = 0; i < 5 && i < bytes.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    value |= static_cast<std::size_t>(byte & 0x7f) << (7 * i);
    if (byte >= 0x80) continue;
    bytes.remove_prefix(i + 1);
    return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> TakeText(std::string_view& bytes) {
  const std::optional<std::size_t> size = TakeVarint(bytes);
  if (!size || *size > bytes.size()) return std::nullopt;
  const std::string_view text = bytes.substr(0, *size);
  bytes.remove_prefix(*size);
  return text;
}

/// Reads one field from the front of the line; false if LogLine has no such field.
bool TakeField(std::string_view& bytes, LineView& line) {
  const char tag = bytes.front();
  bytes.remove_prefix(1);
  if (tag == kStampTag) {
    if (bytes.size() < kStampBytes) return false;
    bytes.remove_prefix(kStampBytes);
    return true;
  }
  if (tag == kSeverityTag) {
    const std::optional<std::size_t> value = TakeVarint(bytes);
    if (!value || !LogEntry::Severity_IsValid(static_cast<int>(*value))) return false;
    line.severity = static_cast<LogEntry::Severity>(*value);
    return true;
  }
  if (tag == kOfStreamTag) {
    const std::optional<std::size_t> value = TakeVarint(bytes);
    line.severity_of_stream = value.value_or(0) != 0;
    return value.has_value();
  }
  if (tag != kTextTag && tag != kJsonTag) return false;
  const std::optional<std::string_view> text = TakeText(bytes);
  if (!text) return false;
  if (tag == kTextTag) line.text = *text;
  if (tag == kJsonTag) line.has_fields = true;
  return true;
}

using control::v1::LogLineShown;

void CutText(LogLineShown& shown) {
  if (shown.text().size() <= kShownTextMax) return;
  shown.set_text_bytes(static_cast<std::int64_t>(shown.text().size()));
  shown.mutable_text()->resize(wire::Utf8Prefix(shown.text(), kShownTextMax));
}

void CutFields(LogLineShown& shown) {
  if (!shown.has_json() || shown.json().ByteSizeLong() <= kShownTextMax) return;
  shown.clear_json();
  shown.set_json_left_out(true);
}

}  // namespace

std::optional<LineView> ViewLine(std::string_view bytes) {
  LineView line;
  while (!bytes.empty()) {
    if (!TakeField(bytes, line)) return std::nullopt;
  }
  return line;
}

replica::v1::LogLine ParseLine(std::string_view bytes) {
  replica::v1::LogLine line;
  if (!line.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    line.Clear();
    line.set_text("(this line cannot be read)");
    line.set_severity(logging::v2::LogEntry::ERROR);
  }
  return line;
}

LogLineShown ShowLine(const WalkedChunk& chunk, const NumberedLine& line, bool whole) {
  replica::v1::LogLine parsed = ParseLine(line.raw.bytes);
  LogLineShown shown;
  shown.set_number(line.number);
  *shown.mutable_time() = wire::ToProto(SysTime(std::chrono::nanoseconds(chunk.TimeOf(line))));
  shown.set_severity(parsed.severity());
  shown.set_severity_of_stream(parsed.severity_of_stream());
  shown.set_replica(chunk.writer->replica);
  shown.set_trial_id(chunk.writer->trial_id);
  shown.set_text(std::move(*parsed.mutable_text()));
  if (parsed.has_json()) *shown.mutable_json() = std::move(*parsed.mutable_json());
  if (!whole) {
    CutText(shown);
    CutFields(shown);
  }
  return shown;
}

}  // namespace trainyard::logs
