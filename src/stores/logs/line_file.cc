#include "stores/logs/log_lines.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "base/text/json_string.h"
#include "base/wire/json.h"
#include "base/wire/time.h"
#include "base/wire/utf8.h"
#include "stores/logs/chunk_walk.h"
#include "stores/logs/line_view.h"

namespace trainyard::logs {

namespace {

using logging::v2::LogEntry;

constexpr std::int64_t kSecond = std::nano::den;

Error Erased() { return {Code::kAborted, "the log was deleted while it was read", {}}; }

/// Prints times of lines, of which many share a second. All are odd, so wire::PrintTime has nine digits, too.
class Times {
 public:
  void Print(std::int64_t time, std::string& out) {
    if (text_.empty() || time / kSecond != second_) {
      second_ = time / kSecond;
      text_ = wire::PrintTime(SysTime(std::chrono::seconds(second_)));
      text_.back() = '.';  // for the Z
    }
    std::array<char, 11> digits{};
    std::snprintf(digits.data(), digits.size(), "%09dZ", static_cast<int>(time % kSecond));
    out.append(text_).append(digits.data());
  }

 private:
  std::int64_t second_ = 0;
  std::string text_;
};

void PrintText(std::string_view text, std::string& out) {
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    out.append(text.substr(0, end)).append("\n\t");
    text.remove_prefix(end + 1);
  }
  out.append(text);
}

void PrintAsText(const WalkedChunk& chunk, const NumberedLine& line, Times& times, std::string& out) {
  times.Print(chunk.TimeOf(line), out);
  const auto print = [&](LogEntry::Severity severity, std::string_view text) {
    out.append(" ").append(LogEntry::Severity_Name(severity)).append(" ").append(chunk.writer->replica);
    out.append(" ");
    PrintText(text, out);
    out.push_back('\n');
  };
  const std::optional<LineView> view = ViewLine(line.raw.bytes);
  if (view) return print(view->severity, view->text);
  const replica::v1::LogLine parsed = ParseLine(line.raw.bytes);
  print(parsed.severity(), parsed.text());
}

/// JSON as protobuf prints a LogLineShown; a line without further fields is not converted to a message first,
/// which takes 20 times as long.
void PrintAsJson(const WalkedChunk& chunk, const NumberedLine& line, Times& times, std::string& out) {
  const std::optional<LineView> view = ViewLine(line.raw.bytes);
  if (!view || view->has_fields || !wire::IsUtf8(view->text)) {
    out.append(wire::PrintJsonCompact(ShowLine(chunk, line, true))).push_back('\n');
    return;
  }
  const auto add = [&out](std::string_view name, std::string_view value) {
    if (!value.empty()) out.append(",\"").append(name).append("\":").append(text::QuoteJson(value));
  };
  out.append("{");
  if (line.number != 0) out.append("\"number\":\"").append(std::to_string(line.number)).append("\",");
  out.append("\"time\":\"");
  times.Print(chunk.TimeOf(line), out);
  out.append("\"");
  if (view->severity != LogEntry::DEFAULT) add("severity", LogEntry::Severity_Name(view->severity));
  add("replica", chunk.writer->replica);
  add("trialId", chunk.writer->trial_id);
  add("text", view->text);
  const auto add_flag = [&out](std::string_view name, bool is_set) {
    if (is_set) out.append(",\"").append(name).append("\":true");
  };
  add_flag("severityOfStream", view->severity_of_stream);
  add_flag("redraw", view->redraw);
  add_flag("continued", view->continued);
  add_flag("cut", view->cut);
  out.append("}\n");
}

}  // namespace

Result<Piece> PrintLines(JobChunks& chunks, const PieceQuery& query) {
  TY_TRY(const std::int64_t total, chunks.Total(query.job_uid));
  if (total < query.end) return std::unexpected(Erased());
  Piece piece{.next = query.from};
  Times times;
  ChunkWalk walk(chunks, query.job_uid, query.filter, WalkDirection::kForward, query.from);
  std::size_t seen = 0;
  while (piece.next < query.end && piece.text.size() < kPieceBytesMin && seen < kPieceBytesSeenMax) {
    TY_TRY(const WalkedChunk* chunk, walk.Next());
    piece.next = std::min(walk.position(), query.end);
    if (chunk == nullptr && !walk.IsCut() && piece.next < query.end) return std::unexpected(Erased());
    if (chunk == nullptr) break;
    TY_RETURN_IF_ERROR(chunk->ForEach(query.from, query.end, [&](const NumberedLine& line) {
      if (piece.text.size() >= kPieceBytesMin) {
        piece.next = line.number;
        return false;
      }
      if (SeverityOf(line.raw) < query.filter.severity_min) return true;
      if (query.form == DownloadForm::kJson) {
        PrintAsJson(*chunk, line, times, piece.text);
      } else {
        PrintAsText(*chunk, line, times, piece.text);
      }
      return true;
    }));
    seen += chunk->contents.lines.size();
  }
  return piece;
}

}  // namespace trainyard::logs
