#include "programs/node/machine_figures.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/async/file.h"

namespace trainyard::node {

namespace {

constexpr std::size_t kCpuFields = 8;  ///< user nice system idle iowait irq softirq steal; guests are in user
constexpr std::size_t kIdle = 3;
constexpr std::size_t kIoWait = 4;
constexpr std::int64_t kKibibyte = 1'024;

/// Removes blanks and the number after them from the text, and returns it. 0: there is none.
std::int64_t TakeNumber(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  return number;
}

/// The text after the key at the beginning of a line; empty: there is no such line.
std::string_view LineOf(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (text.starts_with(key)) return text.substr(key.size(), end - key.size());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

std::int64_t Kibibytes(std::string_view meminfo, std::string_view key) {
  std::string_view line = LineOf(meminfo, key);
  return TakeNumber(line) * kKibibyte;
}

}  // namespace

MachineFigures ParseMachineFigures(std::string_view stat, std::string_view meminfo) {
  MachineFigures figures{.memory_bytes = Kibibytes(meminfo, "MemTotal:"),
                         .memory_available_bytes = Kibibytes(meminfo, "MemAvailable:")};
  std::string_view line = LineOf(stat, "cpu ");
  for (std::size_t field = 0; field < kCpuFields; ++field) {
    const std::int64_t ticks = TakeNumber(line);
    figures.all_ticks += ticks;
    if (field != kIdle && field != kIoWait) figures.busy_ticks += ticks;
  }
  return figures;
}

MachineFigures ReadMachineFigures() {
  return ParseMachineFigures(ReadFile("/proc/stat").value_or(""), ReadFile("/proc/meminfo").value_or(""));
}

double BusyShare(const MachineFigures& before, const MachineFigures& now) {
  const auto passed = static_cast<double>(now.all_ticks - before.all_ticks);
  if (before.all_ticks == 0 || passed <= 0) return -1;
  return std::clamp(static_cast<double>(now.busy_ticks - before.busy_ticks) / passed, 0.0, 1.0);
}

double MemoryShare(const MachineFigures& figures) {
  if (figures.memory_bytes <= 0) return -1;
  const auto used = static_cast<double>(figures.memory_bytes - figures.memory_available_bytes);
  return std::clamp(used / static_cast<double>(figures.memory_bytes), 0.0, 1.0);
}

std::string SystemName(std::string_view os_release) {
  std::string_view name = LineOf(os_release, "PRETTY_NAME=");
  if (name.size() >= 2 && (name.front() == '"' || name.front() == '\'') && name.back() == name.front())
    name = name.substr(1, name.size() - 2);
  return std::string(name);
}

}  // namespace trainyard::node
