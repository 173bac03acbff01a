#include "lines/traceback.h"

#include <vector>

#include "wire/utf8.h"

namespace trainyard::replica {

namespace {

constexpr std::string_view kHeader = "Traceback (most recent call last):";
constexpr std::string_view kElision = "  [...]";
constexpr std::string_view kFrame = "  File ";
/// A traceback of a deep recursion is folded by Python; more than this is no traceback of Python's.
constexpr std::size_t kCollectedBytesMax = std::size_t{64} << 10;

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

/// The line after the frame that begins at `at`.
std::size_t FrameEnd(const std::vector<std::string_view>& lines, std::size_t at) {
  ++at;
  while (at < lines.size() && lines[at].starts_with("  ") && !lines[at].starts_with(kFrame)) ++at;
  return at;
}

}  // namespace

std::string CutTraceback(std::string_view text, std::size_t bytes_max) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  if (text.size() <= bytes_max) return std::string(text);
  const std::vector<std::string_view> lines = Lines(text);
  std::size_t kept = 1;  // first line that stays behind the elision
  std::size_t size = text.size() + 1 + kElision.size();
  while (size > bytes_max && kept < lines.size() && lines[kept].starts_with("  ")) {
    const std::size_t end = FrameEnd(lines, kept);
    for (; kept < end; ++kept) size -= lines[kept].size() + 1;
  }
  std::string cut = std::string(lines[0]) + "\n" + std::string(kElision);
  for (std::size_t i = kept; i < lines.size(); ++i) cut.append("\n").append(lines[i]);
  cut.resize(wire::Utf8Prefix(cut, bytes_max));
  return cut;
}

void TracebackFinder::StderrLine(std::string_view line) {
  if (line == kHeader) {
    last_ = line;
    open_ = true;
    return;
  }
  if (!open_) return;
  if (last_.size() + line.size() < kCollectedBytesMax) last_.append("\n").append(line);
  open_ = line.starts_with(' ');
}

void TracebackFinder::Entry(std::string_view text) {
  if (!text.starts_with(kHeader)) return;
  last_ = text;
  open_ = false;
}

}  // namespace trainyard::replica
