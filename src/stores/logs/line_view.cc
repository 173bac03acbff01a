#include "stores/logs/line_view.h"

#include <cstddef>
#include <cstdint>

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

}  // namespace

std::optional<LineView> ViewLine(std::string_view bytes) {
  LineView line;
  while (!bytes.empty()) {
    if (!TakeField(bytes, line)) return std::nullopt;
  }
  return line;
}

}  // namespace trainyard::logs
