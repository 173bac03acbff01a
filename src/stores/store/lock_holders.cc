#include "stores/store/lock_holders.h"

#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/async/file.h"

namespace trainyard::store {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCommandBytesMax = 64;

bool HasOpen(const fs::path& process, const struct stat& file) {
  std::error_code error;
  for (fs::directory_iterator entry(process / "fd", error), end; !error && entry != end;
       entry.increment(error)) {
    struct stat opened{};
    if (::stat(entry->path().c_str(), &opened) == 0 && opened.st_dev == file.st_dev &&
        opened.st_ino == file.st_ino)
      return true;
  }
  return false;
}

}  // namespace

std::vector<pid_t> ProcessesWith(const std::string& file) {
  std::vector<pid_t> found;
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) return found;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    pid_t pid = 0;
    const auto [rest, wrong] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (wrong != std::errc() || rest != name.data() + name.size() || pid == ::getpid()) continue;
    if (HasOpen(entry->path(), status)) found.push_back(pid);
  }
  return found;
}

std::string DescribeHolders(const std::vector<pid_t>& holders) {
  std::string text;
  for (const pid_t pid : holders) {
    std::string command =
        ReadFile("/proc/" + std::to_string(pid) + "/comm", kCommandBytesMax).value_or("ended just now\n");
    if (command.ends_with('\n')) command.pop_back();
    text += (text.empty() ? "" : " and ") + ("process " + std::to_string(pid) + " (" + command + ")");
  }
  return text.empty() ? "a process of another account" : text;
}

}  // namespace trainyard::store
