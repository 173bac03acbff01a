#include "programs/sandbox/cgroups/proc_figures.h"

#include <charconv>

namespace trainyard::replica {

namespace {

/// Takes the next word off the text.
std::string_view Word(std::string_view& text) noexcept {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return text = {};
  text.remove_prefix(begin);
  const std::string_view word = text.substr(0, text.find_first_of(" \t\n"));
  text.remove_prefix(word.size());
  return word;
}

std::int64_t Number(std::string_view word) noexcept {
  std::int64_t number = 0;
  std::from_chars(word.data(), word.data() + word.size(), number);
  return number;
}

std::string_view Line(std::string_view& text) noexcept {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace

ProcessFigures ParseProcessStat(std::string_view stat) noexcept {
  ProcessFigures figures;
  const std::size_t name_end = stat.rfind(") ");  // the name may hold anything, also ") "
  if (name_end == std::string_view::npos) return figures;
  stat.remove_prefix(name_end + 2);
  constexpr int kState = 3;
  constexpr int kUserTime = 14;
  constexpr int kWaitedForSystemTime = 17;
  constexpr int kResident = 24;
  for (int field = kState; field <= kResident; ++field) {
    const std::string_view word = Word(stat);
    if (field >= kUserTime && field <= kWaitedForSystemTime) figures.cpu_ticks += Number(word);
    if (field == kResident) figures.resident_pages = Number(word);
  }
  return figures;
}

DiskFigures ParseProcessIo(std::string_view io) noexcept {
  return {.read_bytes = FindFigure(io, "read_bytes:"), .written_bytes = FindFigure(io, "write_bytes:")};
}

NetworkFigures ParseNetworkDevices(std::string_view devices) noexcept {
  NetworkFigures figures;
  while (!devices.empty()) {
    std::string_view line = Line(devices);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;  // the two lines of the heading have '|' only
    std::string_view name = line.substr(0, colon);
    if (Word(name) == "lo") continue;
    line.remove_prefix(colon + 1);
    constexpr int kSentColumn = 8;
    for (int column = 0; column <= kSentColumn; ++column) {
      const std::string_view word = Word(line);
      if (column == 0) figures.received_bytes += Number(word);
      if (column == kSentColumn) figures.sent_bytes += Number(word);
    }
  }
  return figures;
}

std::int64_t FindFigure(std::string_view text, std::string_view key) noexcept {
  while (!text.empty()) {
    std::string_view line = Line(text);
    if (Word(line) == key) return Number(Word(line));
  }
  return 0;
}

std::int64_t ParseFigure(std::string_view text) noexcept { return Number(Word(text)); }

std::vector<pid_t> ParsePids(std::string_view text) {
  std::vector<pid_t> pids;
  while (!text.empty()) {
    if (const std::int64_t pid = Number(Line(text)); pid > 0) pids.push_back(static_cast<pid_t>(pid));
  }
  return pids;
}

}  // namespace trainyard::replica
