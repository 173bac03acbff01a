#include "programs/lines/log_writer.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/wire/utf8.h"
#include "programs/attempt/frame.h"
#include "programs/lines/structured_line.h"
#include "programs/lines/task_lines.h"
#include "rules/diagnosis/traceback_lines.h"

namespace trainyard::replica {

namespace {

/// "10 GB", "0.5 GB": in the flag's unit.
std::string Gigabytes(std::int64_t bytes) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.6g GB", static_cast<double>(bytes) / 1e9);
  return text.data();
}

using diagnosis::TracebackLine;
using google::protobuf::Struct;
using logging::v2::LogEntry;

/// The most that is kept of a traceback's chain, which a program may print repeatedly.
constexpr std::size_t kTracebackKeptMax = std::size_t{64} << 10;
constexpr char kLineTag = (v1::LogLines::kLineFieldNumber << 3) | 2;

void SetText(Struct& fields, const char* name, std::string_view text) {
  (*fields.mutable_fields())[name].set_string_value(std::string(text));
}
void SetNumber(Struct& fields, const char* name, double number) {
  (*fields.mutable_fields())[name].set_number_value(number);
}

/// Called if the program named no severity: the line gets that of its stream. For stderr the line says so,
/// since many lines on stderr are no errors.
void SetStreamSeverity(OutputStream stream, v1::LogLine& line) {
  const bool is_stderr = stream == OutputStream::kStderr;
  line.set_severity(is_stderr ? LogEntry::ERROR : LogEntry::INFO);
  line.set_severity_of_stream(is_stderr);
}

/// A JSON object may be longer than an entry: its message is cut, and further fields are left out if they
/// alone are too long.
void CutToLimit(v1::LogLine& line) {
  if (line.text().size() + (line.has_json() ? line.json().ByteSizeLong() : 0) <= kLineBytesMax) return;
  line.set_cut(true);
  if (line.has_json() && line.json().ByteSizeLong() > kLineBytesMax / 2) line.clear_json();
  const std::size_t left = kLineBytesMax - (line.has_json() ? line.json().ByteSizeLong() : 0);
  if (line.text().size() > left) line.mutable_text()->resize(wire::Utf8Prefix(line.text(), left));
}

/// Whether the text is a traceback, or the rest of one after a pause: that is an error on either stream.
bool HasTraceback(std::string_view text) {
  return diagnosis::KindOf(text.substr(0, text.find('\n'))) != TracebackLine::kOther ||
         text.find(diagnosis::kTracebackHeader) != std::string_view::npos;
}

/// Fills in a line that is neither JSON nor from C++ code.
void SetPlainLine(OutputStream stream, std::string text, v1::LogLine& line) {
  SetStreamSeverity(stream, line);
  if (stream == OutputStream::kStderr) {
    const std::optional<LogEntry::Severity> named = SeverityOfPythonLine(text);
    line.set_severity(named.value_or(LogEntry::ERROR));
    line.set_severity_of_stream(!named && !HasTraceback(text));
  }
  line.set_text(std::move(text));
}

void SetCppLine(const CppLogLine& parsed, v1::LogLine& line) {
  line.set_severity(parsed.severity);
  line.set_text(std::string(parsed.text));
  Struct& fields = *line.mutable_json();
  SetText(fields, "levelname", LogEntry::Severity_Name(parsed.severity));
  SetText(fields, "pathname", parsed.file);
  SetNumber(fields, "lineno", parsed.line);
  if (!parsed.time.empty()) SetText(fields, "asctime", parsed.time);
  if (!parsed.thread.empty()) SetText(fields, "thread", parsed.thread);
}

}  // namespace

bool LogAllowance::Keep(std::size_t bytes) {
  const std::int64_t size = static_cast<std::int64_t>(bytes) + kLineOverheadBytes;
  if (closed_ == Why::kNothing && limits_.attempt_bytes > 0 && kept_ + size > limits_.attempt_bytes)
    closed_ = Why::kAttempt;
  if (closed_ == Why::kNothing && !held_) {
    kept_ += size;
    return true;
  }
  for (Loss* count : {&all_, &unreported_}) {
    ++count->lines;
    count->bytes += static_cast<std::int64_t>(bytes);
  }
  return false;
}

void LogAllowance::CloseForJob() {
  if (closed_ == Why::kNothing) closed_ = Why::kJob;
}

void LogAllowance::Hold() { held_ = true; }

void LogAllowance::Release() { released_ = std::exchange(held_, false); }

std::string LogAllowance::Reason() const {
  switch (closed_) {
    case Why::kNothing: return "it could not be stored";
    case Why::kAttempt:
      return "its limit is " + Gigabytes(limits_.attempt_bytes) +
             " for a replica (trainyard serve --replica-logs-max-gb)";
    case Why::kJob:
      return "the limit of this job's log is " + Gigabytes(limits_.job_bytes) +
             " (trainyard serve --job-logs-max-gb)";
  }
  return {};
}

std::string LogAllowance::Begins() const {
  return "From here on, this replica's output is not stored" +
         std::string(closed_ == Why::kNothing ? " until storing works again" : "") + ": " + Reason() +
         ". The program continues to run.";
}

std::optional<std::string> LogAllowance::Note(std::uint64_t now_ns, bool at_end) {
  if (all_ == said_ && !released_) return std::nullopt;
  if (!std::exchange(begun_, true)) {
    said_at_ns_ = now_ns;
    if (!at_end && !released_) {
      said_ = {};
      return Begins();
    }
  }
  if (!at_end && !released_ && now_ns < said_at_ns_ + kDroppedNoteIntervalNs) return std::nullopt;
  if (released_ && closed_ == Why::kNothing) begun_ = false;  // it may begin again
  released_ = false;
  said_at_ns_ = now_ns;
  if (all_ == said_) return std::nullopt;
  said_ = all_;
  return std::to_string(all_.lines) + (all_.lines == 1 ? " line" : " lines") + " of this replica's output, " +
         std::to_string(all_.bytes) + " bytes, " + (all_.lines == 1 ? "is" : "are") + " not in this log" +
         (at_end ? "" : " so far") + ": " + Reason() + ".";
}

void OutputTail::Add(std::string_view line, bool is_error) noexcept {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (const std::size_t end = line.rfind('\n'); end != std::string_view::npos) line.remove_prefix(end + 1);
  if (line.empty()) return;
  Slot& slot = slots_[count_++ % kLinesMax];
  const std::size_t size = line.size() <= kLineBytesMax ? line.size() : wire::Utf8Prefix(line, kLineBytesMax);
  std::copy_n(line.data(), size, slot.bytes.data());
  slot.size = static_cast<std::uint16_t>(size);
  slot.is_error = is_error;
}

std::vector<diagnosis::OutputLine> OutputTail::Lines() const {
  std::vector<diagnosis::OutputLine> lines;
  for (std::size_t i = count_ - std::min(count_, kLinesMax); i < count_; ++i) {
    const Slot& slot = slots_[i % kLinesMax];
    lines.push_back({{slot.bytes.data(), slot.size}, slot.is_error});
  }
  return lines;
}

Redraws::Sink LogWriter::SinkOf(OutputStream stream) {
  return [this, stream](std::string_view text, Redraws::Kind kind) { Line(stream, text, kind); };
}

void LogWriter::Feed(OutputStream stream, std::string_view bytes) {
  const auto index = std::to_underlying(stream);
  if (mask_.empty())
    redraws_[index].Feed(bytes, now_ns_(), SinkOf(stream));
  else
    redraws_[index].Feed(masked_[index].Feed(mask_, bytes), now_ns_(), SinkOf(stream));
}

bool LogWriter::holds_output() const noexcept { return std::ranges::any_of(redraws_, &Redraws::holds); }

void LogWriter::Tick() {
  for (const OutputStream stream : kStreams) {
    const bool is_within_entry = stream == OutputStream::kStderr && holds_entry();
    if (!is_within_entry) redraws_[std::to_underlying(stream)].Tick(now_ns_(), SinkOf(stream));
  }
}

void LogWriter::Finish(OutputStream stream) {
  const auto index = std::to_underlying(stream);
  if (!mask_.empty()) redraws_[index].Feed(masked_[index].Finish(mask_), now_ns_(), SinkOf(stream));
  redraws_[index].Finish(now_ns_(), SinkOf(stream));
  if (stream == OutputStream::kStderr) ReleaseEntry();
}

void LogWriter::ReleaseEntry() {
  stderr_entries_.Release([this](std::string_view text) { Entry(OutputStream::kStderr, text); });
}

/// A secret that JSON spells with escapes ("\u0068unter2") is found only once the line is parsed.
void LogWriter::Hide(Struct& fields) const {
  Struct shown;
  for (auto& [name, value] : *fields.mutable_fields()) {
    Hide(value);
    (*shown.mutable_fields())[mask_.Apply(name)] = std::move(value);
  }
  fields = std::move(shown);
}

void LogWriter::Hide(google::protobuf::Value& value) const {
  if (value.has_string_value()) {
    value.set_string_value(mask_.Apply(value.string_value()));
  } else if (value.has_struct_value()) {
    Hide(*value.mutable_struct_value());
  } else if (value.has_list_value()) {
    for (google::protobuf::Value& one : *value.mutable_list_value()->mutable_values()) Hide(one);
  }
}

void LogWriter::Line(OutputStream stream, std::string_view text, Redraws::Kind kind) {
  if (stream == OutputStream::kStderr && kind == Redraws::Kind::kLine)
    return stderr_entries_.Line(text,
                                [this](std::string_view entry) { Entry(OutputStream::kStderr, entry); });
  if (stderr_entries_.can_be_whole()) ReleaseEntry();  // it came before this line
  Entry(stream, text, kind);
}

void LogWriter::Note(std::string_view text, bool is_error) {
  const std::string_view first = text.substr(0, text.find('\n'));
  const TracebackLine kind = diagnosis::KindOf(first);
  // A single line belongs to a traceback on stdout, which is read line by line.
  const bool is_whole = first.size() < text.size();
  if (kind == TracebackLine::kHeader) {
    if (is_whole) traceback_ = text;
  } else if (kind != TracebackLine::kOther) {  // the rest of one, after a pause
    if (is_whole && !traceback_.empty() && traceback_.size() < kTracebackKeptMax)
      traceback_.append(kind == TracebackLine::kLink ? "\n\n" : "\n").append(text);
  } else {
    const std::size_t header = text.find(diagnosis::kTracebackHeader);
    if (header == std::string_view::npos || header == 0 || text[header - 1] != '\n')
      return tail_.Add(text, is_error);
    text.remove_prefix(header);
  }
  for (const auto& exception : diagnosis::ExceptionsOf(text))
    for (const std::string_view line : exception) tail_.Add(line, is_error);
}

void LogWriter::Entry(OutputStream stream, std::string_view text, Redraws::Kind kind) {
  if (text.empty()) return;
  line_.Clear();
  std::string clean = wire::ReplaceMalformed(text);
  const bool is_stderr = stream == OutputStream::kStderr;
  if (kind == Redraws::Kind::kRedraw) {
    Note(clean, is_stderr);
    line_.set_severity(LogEntry::INFO);  // a bar on stderr is no error
    line_.set_redraw(true);
    line_.set_text(std::move(clean));
  } else if (ParseStructuredLine(clean, line_)) {
    if (line_.severity() == LogEntry::DEFAULT) SetStreamSeverity(stream, line_);
    if (!mask_.empty()) {
      line_.set_text(mask_.Apply(line_.text()));
      if (line_.has_json()) Hide(*line_.mutable_json());
    }
    Note(line_.text(), line_.severity() >= LogEntry::ERROR);
  } else if (const auto parsed = is_stderr ? ParseCppLogLine(clean) : std::nullopt; parsed) {
    SetCppLine(*parsed, line_);
    Note(clean, true);
  } else {
    Note(clean, is_stderr);
    SetPlainLine(stream, std::move(clean), line_);
  }
  line_.set_continued(kind == Redraws::Kind::kContinued);
  CutToLimit(line_);
  if (allowance_.Keep(text.size())) Add();
}

void LogWriter::Relay(LogEntry::Severity severity, std::string_view text) {
  if (allowance_.Keep(text.size())) Say(severity, text);
}

void LogWriter::SayDropped(bool at_end) {
  if (const auto note = allowance_.Note(now_ns_(), at_end)) Say(LogEntry::WARNING, *note);
}

void LogWriter::Say(LogEntry::Severity severity, std::string_view text) {
  line_.Clear();
  line_.set_severity(severity);
  const std::string shown = mask_.empty() ? std::string(text) : mask_.Apply(text);
  line_.set_text(
      wire::ReplaceMalformed(std::string_view(shown).substr(0, wire::Utf8Prefix(shown, kLineBytesMax))));
  Struct& fields = *line_.mutable_json();
  SetNumber(fields, "created", static_cast<double>(now_ns_()) / 1e9);
  SetText(fields, "levelname", LogEntry::Severity_Name(severity));
  SetNumber(fields, "lineno", 0);  // the original runner has no line numbers for these messages
  SetText(fields, "pathname", kRunnerPath);
  Add();
}

void LogWriter::Add() {
  last_stamp_ = stamper_.Next(now_ns_());
  if (count_ == 0) first_stamp_ = last_stamp_;
  line_.set_stamp(last_stamp_);
  lines_ += kLineTag;
  AppendFrame(line_, lines_);  // size and message: the encoding of a message field
  ++count_;
}

Status LogWriter::Flush() {
  if (count_ == 0) return {};
  v1::LogChunk chunk;
  chunk.set_first_line(first_line_);
  chunk.set_line_count(count_);
  chunk.set_first_stamp(first_stamp_);
  chunk.set_last_stamp(last_stamp_);
  chunk.set_dropped_lines(allowance_.unreported().lines);
  chunk.set_dropped_bytes(allowance_.unreported().bytes);
  chunk.set_lines(std::move(lines_));
  const Status appended = spool_.Append(chunk);
  lines_ = std::move(*chunk.mutable_lines());
  if (!appended) return appended;
  allowance_.Forget();
  first_line_ += count_;
  count_ = 0;
  lines_.clear();
  return {};
}

}  // namespace trainyard::replica
