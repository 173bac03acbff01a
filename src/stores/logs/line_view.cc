#include "stores/logs/line_view.h"

#include <algorithm>
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
constexpr char kStampTag = 0x09;      // field 1, fixed64
constexpr char kSeverityTag = 0x10;   // field 2, varint
constexpr char kTextTag = 0x1a;       // field 3, length-delimited
constexpr char kJsonTag = 0x22;       // field 4, length-delimited
constexpr char kOfStreamTag = 0x28;   // field 5, varint
constexpr char kRedrawTag = 0x30;     // field 6, varint
constexpr char kContinuedTag = 0x38;  // field 7, varint
constexpr char kCutTag = 0x40;        // field 8, varint
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

bool* FlagOf(char tag, LineView& line) {
  switch (tag) {
    case kOfStreamTag: return &line.severity_of_stream;
    case kRedrawTag: return &line.redraw;
    case kContinuedTag: return &line.continued;
    case kCutTag: return &line.cut;
    default: return nullptr;
  }
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
  if (bool* flag = FlagOf(tag, line); flag != nullptr) {
    const std::optional<std::size_t> value = TakeVarint(bytes);
    *flag = value.value_or(0) != 0;
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

constexpr std::string_view kServiceTask = "service";

/// The service's own lines have their own log name.
std::string LogName(const LogSource& source) {
  const std::string prefix = "projects/" + source.project + "/logs/";
  if (source.task_name == kServiceTask) return prefix + "ml.googleapis.com%2F" + source.job_id;
  return prefix + source.task_name;
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
  shown.set_redraw(parsed.redraw());
  shown.set_continued(parsed.continued());
  shown.set_cut(parsed.cut());
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

LogEntry EntryTemplate(const LogSource& source) {
  LogEntry entry;
  entry.set_log_name(LogName(source));
  entry.mutable_resource()->set_type("ml_job");
  auto& resource = *entry.mutable_resource()->mutable_labels();
  resource["job_id"] = source.job_id;
  resource["project_id"] = source.project;
  resource["task_name"] = source.task_name;
  auto& labels = *entry.mutable_labels();
  labels["ml.googleapis.com/job_id"] = source.job_id;
  labels["ml.googleapis.com/job_id/log_area"] = "root";
  labels["ml.googleapis.com/task_name"] = source.task_name;
  labels["ml.googleapis.com/trial_id"] = source.trial_id;  // present, but empty, without tuning
  if (!source.host_name.empty()) labels["compute.googleapis.com/resource_name"] = source.host_name;
  return entry;
}

std::string InsertId(std::int64_t job_line) {
  constexpr std::size_t kDigits = 16;
  const std::string number = std::to_string(job_line);
  return std::string(kDigits - std::min(kDigits, number.size()), '0') + number;
}

void FillEntry(const replica::v1::LogLine& line, std::int64_t shown_time, std::int64_t job_line,
               LogEntry& entry) {
  *entry.mutable_json_payload() = line.json();
  auto& fields = *entry.mutable_json_payload()->mutable_fields();
  if (!line.text().empty() || !fields.contains("message")) fields["message"].set_string_value(line.text());
  if (line.severity() != LogEntry::DEFAULT && !fields.contains("levelname")) {
    fields["levelname"].set_string_value(LogEntry::Severity_Name(line.severity()));
  }
  if (!fields.contains("created"))
    fields["created"].set_number_value(static_cast<double>(line.stamp()) / std::nano::den);
  auto& labels = *entry.mutable_labels();
  if (line.redraw()) labels["redraw"] = "true";
  if (line.continued()) labels["continued"] = "true";
  if (line.cut()) labels["cut"] = "true";
  entry.set_severity(line.severity());
  entry.set_insert_id(InsertId(job_line));
  *entry.mutable_timestamp() = wire::ToProto(SysTime(std::chrono::nanoseconds(shown_time)));
}

LogEntry MakeEntry(const LogEntry& common, std::string_view bytes, std::int64_t shown_time,
                   std::int64_t job_line) {
  replica::v1::LogLine line;
  if (!line.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    line.set_text("(this line cannot be read)");
    line.set_severity(LogEntry::ERROR);
  }
  LogEntry entry = common;
  FillEntry(line, shown_time, job_line, entry);
  return entry;
}

}  // namespace trainyard::logs
