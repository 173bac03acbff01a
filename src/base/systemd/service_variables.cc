#include "base/systemd/service_variables.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/number.h"

namespace trainyard::systemd {

namespace {

constexpr int kFirstDescriptor = 3;     // SD_LISTEN_FDS_START
constexpr long kDescriptorsMax = 4096;  // a larger number is not from the service manager
constexpr const char* kNoName = "unknown";

std::optional<long> NumberIn(const char* text) {
  const auto number = WholeNumber<long>(text == nullptr ? "" : text);
  return number.value_or(-1) < 0 ? std::nullopt : number;
}

}  // namespace

bool IsNotified() {
  const char* address = std::getenv("NOTIFY_SOCKET");
  return address != nullptr && *address != '\0';
}

std::map<std::string, std::optional<std::string>> WithoutServiceVariables() {
  std::map<std::string, std::optional<std::string>> without;
  for (const char* name : {"NOTIFY_SOCKET",
                           "WATCHDOG_PID",
                           "WATCHDOG_USEC",
                           "LISTEN_PID",
                           "LISTEN_FDS",
                           "LISTEN_FDNAMES",
                           "MAINPID",
                           "INVOCATION_ID",
                           "JOURNAL_STREAM",
                           "SYSTEMD_EXEC_PID",
                           "FDSTORE",
                           "MANAGERPID",
                           "CREDENTIALS_DIRECTORY",
                           "RUNTIME_DIRECTORY",
                           "STATE_DIRECTORY",
                           "CACHE_DIRECTORY",
                           "LOGS_DIRECTORY",
                           "CONFIGURATION_DIRECTORY",
                           "MEMORY_PRESSURE_WATCH",
                           "MEMORY_PRESSURE_WRITE"})
    without[name] = std::nullopt;
  return without;
}

std::vector<std::string> NamesOfKept(const char* pid, const char* count, const char* names, long own_pid) {
  const std::optional<long> descriptors = NumberIn(count);
  if (NumberIn(pid) != own_pid || !descriptors || *descriptors > kDescriptorsMax) return {};
  std::vector<std::string> found;
  std::string_view rest = names == nullptr ? "" : names;
  for (long i = 0; i < *descriptors; ++i) {
    const std::size_t colon = rest.find(':');
    const std::string_view name = rest.substr(0, colon);
    found.emplace_back(name.empty() ? kNoName : name);
    rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
  }
  return found;
}

std::vector<KeptDescriptor> TakeKeptDescriptors() {
  const std::vector<std::string> names = NamesOfKept(std::getenv("LISTEN_PID"), std::getenv("LISTEN_FDS"),
                                                     std::getenv("LISTEN_FDNAMES"), ::getpid());
  for (const char* variable : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(variable);
  std::vector<KeptDescriptor> kept;
  int next = kFirstDescriptor;
  for (const std::string& name : names) {
    const int number = next++;
    if (::fcntl(number, F_SETFD, FD_CLOEXEC) != 0) continue;  // there is no such descriptor
    kept.push_back({.name = name, .descriptor = UniqueFd(number)});
  }
  return kept;
}

std::optional<std::chrono::microseconds> WatchdogWait(const char* pid, const char* microseconds,
                                                      long own_pid) {
  const std::optional<long> wait = NumberIn(microseconds);
  if (!wait || *wait == 0) return std::nullopt;
  if (pid != nullptr && NumberIn(pid) != own_pid) return std::nullopt;
  return std::chrono::microseconds(*wait);
}

std::optional<std::chrono::microseconds> TakeWatchdogWait() {
  const auto wait = WatchdogWait(std::getenv("WATCHDOG_PID"), std::getenv("WATCHDOG_USEC"), ::getpid());
  for (const char* variable : {"WATCHDOG_PID", "WATCHDOG_USEC"}) ::unsetenv(variable);
  return wait;
}

}  // namespace trainyard::systemd
