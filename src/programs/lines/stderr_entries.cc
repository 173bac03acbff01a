#include "programs/lines/stderr_entries.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/wire/utf8.h"
#include "programs/lines/line_splitter.h"
#include "rules/diagnosis/traceback_lines.h"

namespace trainyard::replica {

namespace {

constexpr std::string_view kElision = "  [...]";
constexpr std::string_view kFrame = "  File ";

using diagnosis::KindOf;
using diagnosis::TracebackLine;
using Lines = std::vector<std::string_view>;

Lines Split(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string Join(const Lines& lines) {
  std::string text;
  for (const std::string_view line : lines) text.append(text.empty() ? "" : "\n").append(line);
  return text;
}

/// One exception of a chain.
struct Part {
  std::string_view link;  ///< to the exception before; empty: there is none
  std::string_view header;
  std::vector<std::string> frames;  ///< each with its source lines and markers, the oldest first
  Lines said;                       ///< its type and message, and what follows them
  std::string message{};            ///< the same, cut to the allowed length
  std::size_t kept = 0;             ///< how many of the newest frames are kept
};

/// Takes a frame and the lines below it; returns the line after it.
std::size_t TakeFrame(const Lines& lines, std::size_t at, Part& part) {
  std::string frame(lines[at++]);
  while (at < lines.size() && lines[at].starts_with("  ") && !lines[at].starts_with(kFrame))
    frame.append("\n").append(lines[at++]);
  part.frames.push_back(std::move(frame));
  return at;
}

/// Parses a chain. `lines` must begin with the header.
std::vector<Part> Parse(const Lines& lines) {
  std::vector<Part> parts;
  std::string_view link;
  for (std::size_t at = 0; at < lines.size();) {
    const TracebackLine kind = KindOf(lines[at]);
    if (kind == TracebackLine::kHeader || kind == TracebackLine::kWorkersHeader) {
      parts.push_back({.link = link, .header = lines[at], .frames = {}, .said = {}});
      link = {};
      ++at;
      while (at < lines.size() && lines[at].starts_with("  ")) at = TakeFrame(lines, at, parts.back());
    } else if (kind == TracebackLine::kLink) {
      link = lines[at++];
    } else {
      if (link.empty()) parts.back().said.push_back(lines[at]);
      ++at;
    }
  }
  for (Part& part : parts) {
    while (!part.said.empty() && part.said.back().empty()) part.said.pop_back();
    part.message = Join(part.said);
  }
  return parts;
}

/// The part's size in the cut text without frames, including the line end before it.
std::size_t BareSize(const Part& part) {
  const std::size_t link = part.link.empty() ? 0 : part.link.size() + 3;  // between two empty lines
  const std::size_t elision = part.frames.empty() ? 0 : kElision.size() + 1;
  return link + part.header.size() + 1 + elision + (part.message.empty() ? 0 : part.message.size() + 1);
}

std::size_t BareSize(const std::vector<Part>& parts) {
  std::size_t size = 0;
  for (const Part& part : parts) size += BareSize(part);
  return size - 1;
}

/// Removes the frames that created a TensorFlow operation, before any other message text. TensorFlow 1's are
/// at the end of a message.
void DropStacks(Part& part) {
  Lines kept;
  bool in_graph_stack = false;
  for (const std::string_view line : part.said) {
    if (in_graph_stack && diagnosis::IsOfGraphStack(line)) {
      if (kept.back() != kElision) kept.push_back(kElision);
      continue;
    }
    const TracebackLine kind = KindOf(line);
    if (kind == TracebackLine::kOriginalStack && !kept.empty()) {
      while (!kept.empty() && kept.back().empty()) kept.pop_back();
      kept.push_back(kElision);
      break;
    }
    in_graph_stack = kind == TracebackLine::kGraphStack;
    kept.push_back(line);
  }
  part.said = std::move(kept);
  part.message = Join(part.said);
}

void CutMessage(Part& part, std::size_t size) {
  if (part.message.size() > size) part.message.resize(wire::Utf8Prefix(part.message, size));
}

/// Gives the first exception at least half of the available bytes, if it needs them, and the last one the
/// rest.
void CutMessages(std::vector<Part>& parts, std::size_t bytes_max) {
  std::size_t others = BareSize(parts);
  for (const Part& part : parts) others -= part.message.size();
  const std::size_t room = bytes_max - std::min(bytes_max, others);
  if (parts.size() == 1) return CutMessage(parts.front(), room);
  const std::size_t left = room - std::min(room, parts.back().message.size());
  CutMessage(parts.front(), std::max(room / 2, left));
  CutMessage(parts.back(), room - std::min(room, parts.front().message.size()));
}

/// Keeps one more frame of the part, if it has one that fits.
bool KeepFrame(Part& part, std::size_t& room) {
  if (part.kept == part.frames.size()) return false;
  const std::size_t size = part.frames[part.frames.size() - 1 - part.kept].size() + 1;
  if (size > room) return false;
  room -= size;
  ++part.kept;
  return true;
}

/// Keeps frames, the newest first: alternately of the last and the first exception, then of those between.
void KeepFrames(std::vector<Part>& parts, std::size_t room) {
  for (bool more = true; more;) {
    more = KeepFrame(parts.back(), room);
    if (parts.size() > 1 && KeepFrame(parts.front(), room)) more = true;
  }
  for (std::size_t i = parts.size(); i-- > 0;) {
    while (KeepFrame(parts[i], room)) {
    }
  }
}

std::string Print(const std::vector<Part>& parts) {
  std::string text;
  for (const Part& part : parts) {
    if (!part.link.empty()) text.append("\n\n").append(part.link).append("\n");
    text.append(text.empty() ? "" : "\n").append(part.header);
    if (part.kept < part.frames.size()) text.append("\n").append(kElision);
    for (std::size_t i = part.frames.size() - part.kept; i < part.frames.size(); ++i)
      text.append("\n").append(part.frames[i]);
    if (!part.message.empty()) text.append("\n").append(part.message);
  }
  return text;
}

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

std::string CutTraceback(std::string_view text, std::size_t bytes_max) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  if (text.size() <= bytes_max) return std::string(text);
  const Lines lines = Split(text);
  if (KindOf(lines.front()) != TracebackLine::kHeader)
    return std::string(text.substr(0, wire::Utf8Prefix(text, bytes_max)));
  std::vector<Part> parts = Parse(lines);
  if (BareSize(parts) > bytes_max) std::ranges::for_each(parts, DropStacks);
  if (BareSize(parts) > bytes_max && parts.size() > 2) {
    parts.erase(parts.begin() + 1, parts.end() - 1);
    parts.front().message.append("\n").append(kElision);
  }
  if (BareSize(parts) > bytes_max) CutMessages(parts, bytes_max);
  const std::size_t bare = BareSize(parts);
  KeepFrames(parts, bytes_max - std::min(bytes_max, bare));
  std::string cut = Print(parts);
  cut.resize(wire::Utf8Prefix(cut, bytes_max));
  return cut;
}

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
