#include "base/async/diagnostics.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "base/wire/utf8.h"

namespace trainyard {

namespace {

std::atomic<DiagnosticLevel> g_level_min{DiagnosticLevel::kInfo};

std::string_view LevelName(DiagnosticLevel level) {
  switch (level) {
    case DiagnosticLevel::kDebug: return "DEBUG";
    case DiagnosticLevel::kInfo: return "INFO";
    case DiagnosticLevel::kWarning: return "WARNING";
    case DiagnosticLevel::kError: return "ERROR";
  }
  return "";
}

/// Whether stderr leads to the journal, which adds the time and reads a priority (systemd.exec(5),
/// $JOURNAL_STREAM).
bool IsJournal() {
  const char* told = std::getenv("JOURNAL_STREAM");
  struct stat own{};
  if (told == nullptr || ::fstat(STDERR_FILENO, &own) != 0) return false;
  return std::to_string(own.st_dev) + ":" + std::to_string(own.st_ino) == told;
}

/// The journal's prefix for the level: sd-daemon(3).
std::string_view PriorityPrefix(DiagnosticLevel level) {
  switch (level) {
    case DiagnosticLevel::kDebug: return "<7>";
    case DiagnosticLevel::kInfo: return "<6>";
    case DiagnosticLevel::kWarning: return "<4>";
    case DiagnosticLevel::kError: return "<3>";
  }
  return "";
}

std::string TimePrefix() {
  auto now = std::chrono::system_clock::now();
  auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text.data() + size, text.size() - size, ".%03dZ ", static_cast<int>(millis));
  return text.data();
}

}  // namespace

void Diagnose(DiagnosticLevel level, std::string_view text) {
  if (level < g_level_min.load(std::memory_order_relaxed)) return;
  std::string line = IsJournal() ? std::string(PriorityPrefix(level)) : TimePrefix();
  line += LevelName(level);
  line += ' ';
  for (char c : wire::VisibleText(text)) {
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\r') {  // a newline follows, which is escaped itself
      line += "\\r";
    } else {
      line += c;
    }
  }
  line += '\n';
  // One write, so that lines of several threads do not mix. If stderr is gone there is nothing to do.
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

void SetDiagnosticLevel(DiagnosticLevel level_min) {
  g_level_min.store(level_min, std::memory_order_relaxed);
}

}  // namespace trainyard
