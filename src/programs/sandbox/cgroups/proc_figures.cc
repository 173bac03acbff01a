#include "programs/sandbox/cgroups/proc_figures.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <map>
#include <string>

#include "base/async/file.h"
#include "base/number.h"
#include "base/process/process_sockets.h"

namespace trainyard::replica {

namespace {

/// Removes the next word from the text and returns it.
std::string_view Word(std::string_view& text) noexcept {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return text = {};
  text.remove_prefix(begin);
  const std::string_view word = text.substr(0, text.find_first_of(" \t\n"));
  text.remove_prefix(word.size());
  return word;
}

std::int64_t Number(std::string_view word) noexcept { return LeadingNumber<std::int64_t>(word).value_or(0); }

std::string_view Line(std::string_view& text) noexcept {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::map<pid_t, std::vector<pid_t>> Children() {
  std::map<pid_t, std::vector<pid_t>> children;
  for (const pid_t pid : AllProcesses().value_or(std::vector<pid_t>())) {
    const auto stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
    if (stat) children[ParentFromStat(*stat)].push_back(pid);
  }
  return children;
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

pid_t ParentFromStat(std::string_view stat) noexcept {
  const std::size_t name_end = stat.rfind(") ");  // the name may hold anything, also ") "
  if (name_end == std::string_view::npos || stat.size() < name_end + 5) return -1;
  return LeadingNumber<pid_t>(stat.substr(name_end + 4)).value_or(-1);
}

std::vector<pid_t> Descendants(pid_t root) {
  std::map<pid_t, std::vector<pid_t>> children = Children();
  std::vector<pid_t> found = {root};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<pid_t> below = std::exchange(children[found[i]], {});
    found.insert(found.end(), below.begin(), below.end());
  }
  found.erase(found.begin());
  return found;
}

void KillDescendants() noexcept {
  for (;;) {
    pid_t reaped = 0;
    do {
      reaped = waitpid(-1, nullptr, WNOHANG);
    } while (reaped > 0);
    if (reaped < 0 && errno == ECHILD) return;
    for (const pid_t pid : Descendants(getpid())) kill(pid, SIGKILL);
    const timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace trainyard::replica
