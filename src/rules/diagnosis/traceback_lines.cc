#include "rules/diagnosis/traceback_lines.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace trainyard::diagnosis {

namespace {

constexpr std::string_view kWorkersHeader = "Original Traceback (most recent call last):";
constexpr std::array<std::string_view, 2> kLinks = {
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:"};
constexpr std::string_view kOriginalStack = "Original stack trace for ";
constexpr std::string_view kGraphStack = "Detected at node ";
constexpr std::string_view kGraphStackEnd = "(most recent call last):";

}  // namespace

TracebackLine KindOf(std::string_view line) noexcept {
  if (line == kTracebackHeader) return TracebackLine::kHeader;
  if (line == kWorkersHeader) return TracebackLine::kWorkersHeader;
  if (std::ranges::find(kLinks, line) != kLinks.end()) return TracebackLine::kLink;
  if (line.starts_with(kOriginalStack)) return TracebackLine::kOriginalStack;
  if (line.starts_with(kGraphStack) && line.ends_with(kGraphStackEnd)) return TracebackLine::kGraphStack;
  return TracebackLine::kOther;
}

bool IsOfGraphStack(std::string_view line) noexcept {
  return line.empty() || line.front() == ' ' || line == "<stack traces unavailable>" ||
         line.starts_with("Node: '") || KindOf(line) == TracebackLine::kGraphStack;
}

std::vector<std::vector<std::string_view>> ExceptionsOf(std::string_view traceback) {
  std::vector<std::vector<std::string_view>> exceptions;
  bool in_frames = true;
  bool in_graph_stack = false;
  while (!traceback.empty()) {
    const std::string_view line = traceback.substr(0, traceback.find('\n'));
    traceback.remove_prefix(std::min(traceback.size(), line.size() + 1));
    const TracebackLine kind = KindOf(line);
    const bool begins = kind == TracebackLine::kHeader || kind == TracebackLine::kWorkersHeader;
    if (begins || exceptions.empty()) exceptions.emplace_back();
    if (kind != TracebackLine::kOther) {
      in_frames = kind != TracebackLine::kLink;
      in_graph_stack = kind == TracebackLine::kGraphStack;
    } else if (!line.empty() && !(in_frames && line.front() == ' ') &&
               !(in_graph_stack && IsOfGraphStack(line))) {
      in_frames = in_graph_stack = false;
      exceptions.back().push_back(line);
    }
  }
  std::erase_if(exceptions, [](const auto& lines) { return lines.empty(); });
  return exceptions;
}

}  // namespace trainyard::diagnosis
