#include "programs/lines/traceback.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/wire/utf8.h"
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

}  // namespace trainyard::replica
