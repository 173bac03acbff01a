#include "programs/lines/stderr_entries.h"

#include <algorithm>
#include <array>
#include <utility>

#include "programs/lines/line_splitter.h"
#include "rules/diagnosis/traceback_lines.h"

namespace trainyard::replica {

namespace {

using diagnosis::KindOf;
using diagnosis::TracebackLine;
using logging::v2::LogEntry;

constexpr std::array<std::pair<std::string_view, LogEntry::Severity>, 5> kLevels = {{
    {"DEBUG:", LogEntry::DEBUG},
    {"INFO:", LogEntry::INFO},
    {"WARNING:", LogEntry::WARNING},
    {"ERROR:", LogEntry::ERROR},
    {"CRITICAL:", LogEntry::CRITICAL},
}};

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

bool IsName(std::string_view text) { return !text.empty() && std::ranges::all_of(text, IsNameCharacter); }

/// "/path/task.py:12: UserWarning: text"
bool IsPythonWarning(std::string_view line) {
  constexpr std::string_view kKind = "Warning: ";
  constexpr std::string_view kDigits = "0123456789";
  if (line.empty() || line.front() == ' ') return false;
  const std::size_t kind_end = line.find(kKind);
  if (kind_end == std::string_view::npos) return false;
  const std::size_t kind = line.substr(0, kind_end).rfind(": ");
  if (kind == std::string_view::npos) return false;
  const std::string_view name = line.substr(kind + 2, kind_end + kKind.size() - 2 - kind - 2);
  const std::string_view place = line.substr(0, kind);
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || !IsName(name)) return false;
  const std::string_view number = place.substr(colon + 1);
  return !number.empty() && number.find_first_not_of(kDigits) == std::string_view::npos;
}

}  // namespace

std::optional<LogEntry::Severity> SeverityOfPythonLine(std::string_view line) noexcept {
  for (const auto& [level, severity] : kLevels) {
    if (!line.starts_with(level)) continue;
    const std::string_view rest = line.substr(level.size());
    const std::size_t colon = rest.find(':');
    if (colon != std::string_view::npos && IsName(rest.substr(0, colon))) return severity;
  }
  if (IsPythonWarning(line)) return LogEntry::WARNING;
  return std::nullopt;
}

bool StderrEntries::Hold(std::string_view line, State state) {
  if (state_ == State::kNone) {
    held_ = line;
  } else {
    held_.append("\n").append(line);
  }
  state_ = state;
  ++lines_held_;
  return true;
}

std::size_t StderrEntries::BarBefore(std::string_view line) noexcept {
  if (line.find('\r') == std::string_view::npos || !line.ends_with(diagnosis::kTracebackHeader)) return 0;
  return line.size() - diagnosis::kTracebackHeader.size();
}

/// The state that the line begins or continues in a traceback; kNone: neither.
StderrEntries::State StderrEntries::StateAfter(TracebackLine kind) {
  switch (kind) {
    case TracebackLine::kHeader:
    case TracebackLine::kWorkersHeader: return State::kFrames;
    case TracebackLine::kLink: return State::kLinked;
    case TracebackLine::kOriginalStack: return State::kOriginal;
    case TracebackLine::kGraphStack: return State::kGraph;
    case TracebackLine::kOther: break;
  }
  return State::kNone;
}

bool StderrEntries::Begins(std::string_view line) {
  // The entry to which a link or a stack belongs was already passed on, because of a pause.
  if (const State state = StateAfter(KindOf(line)); state != State::kNone) return Hold(line, state);
  return IsPythonWarning(line) && Hold(line, State::kWarning);
}

bool StderrEntries::Continues(std::string_view line) {
  if (held_.size() + line.size() >= kLineBytesMax) return false;
  const bool is_header = KindOf(line) == TracebackLine::kHeader;
  switch (state_) {
    case State::kNone:
    case State::kWhole: return false;
    case State::kWarning: return line.starts_with("  ") && Hold(line, State::kWhole);
    case State::kFrames:
      if (line.empty() || is_header) return false;
      return Hold(line, line.starts_with(' ') ? State::kFrames : State::kMessage);
    case State::kOriginal:
      if (line.starts_with("  ")) return Hold(line, State::kOriginal);
      return ContinuesMessage(line);
    case State::kGraph:
      if (diagnosis::IsOfGraphStack(line)) return Hold(line, State::kGraph);
      return ContinuesMessage(line) || (!is_header && Hold(line, State::kMessage));
    case State::kMessage: return ContinuesMessage(line);
    case State::kLinked:
      if (line.empty()) return Hold(line, State::kLinked);
      return is_header && Hold(line, State::kFrames);
  }
  return false;
}

bool StderrEntries::ContinuesMessage(std::string_view line) {
  if (line.empty()) return Hold(line, State::kMessage);  // removed again by Release if nothing follows
  const TracebackLine kind = KindOf(line);
  if (kind == TracebackLine::kHeader) return false;
  if (const State state = StateAfter(kind); state != State::kNone) return Hold(line, state);
  // TensorFlow's count after several messages; version 2 adds the operation's name.
  const std::string_view counted = line.substr(0, line.find(" [Op:"));
  const bool counts =
      counted.ends_with(" successful operations.") || counted.ends_with(" derived errors ignored.");
  return (line.front() == ' ' || line.front() == '\t' || counts) && Hold(line, State::kMessage);
}

}  // namespace trainyard::replica
