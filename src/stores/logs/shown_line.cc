#include "stores/logs/shown_line.h"

#include <chrono>
#include <string>
#include <utility>

#include "base/wire/time.h"
#include "base/wire/utf8.h"
#include "stores/logs/line_query.h"

namespace trainyard::logs {

namespace {

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
