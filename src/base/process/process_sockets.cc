#include "base/process/process_sockets.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/file.h"
#include "base/number.h"

namespace trainyard {

namespace {

/// The inode number in "socket:[4711]", the link target of a socket; nullopt for the path of a file.
std::optional<std::uint32_t> SocketOf(std::string_view link) {
  constexpr std::string_view kBegin = "socket:[";
  if (!link.starts_with(kBegin) || !link.ends_with(']')) return std::nullopt;
  return WholeNumber<std::uint32_t>(link.substr(kBegin.size(), link.size() - kBegin.size() - 1));
}

/// Calls `use` with the number of each socket of the process, until it returns that this is enough. False:
/// this process may not inspect it.
template <class F>
bool ForEachSocket(pid_t pid, F&& use) {
  DIR* descriptors = ::opendir(("/proc/" + std::to_string(pid) + "/fd").c_str());
  if (descriptors == nullptr) return errno != EACCES;
  bool is_enough = false;
  while (const dirent* entry = is_enough ? nullptr : ::readdir(descriptors)) {
    std::array<char, 64> target{};
    const ssize_t size = ::readlinkat(::dirfd(descriptors), entry->d_name, target.data(), target.size());
    if (size <= 0) continue;
    const auto number = SocketOf({target.data(), static_cast<std::size_t>(size)});
    is_enough = number && use(*number);
  }
  ::closedir(descriptors);
  return true;
}

/// Nullopt: it has ended, and its descriptors are closed.
std::optional<std::uint32_t> AccountOf(pid_t pid) {
  std::istringstream lines(ReadFile("/proc/" + std::to_string(pid) + "/status").value_or(""));
  constexpr std::string_view kUid = "Uid:";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("State:\tZ")) return std::nullopt;
    if (!line.starts_with(kUid)) continue;
    std::istringstream words(line.substr(kUid.size()));
    std::uint32_t real = 0;
    std::uint32_t effective = 0;
    if (words >> real >> effective) return effective;
  }
  return std::nullopt;
}

/// Newest first: most processes that have just connected have just started. This process is last: it has the
/// most sockets and rarely connects to itself.
std::vector<pid_t> ProcessesToLookAt() {
  std::vector<pid_t> pids = AllProcesses().value_or(std::vector<pid_t>());
  std::ranges::sort(pids, std::greater());
  if (const auto own = std::ranges::find(pids, ::getpid()); own != pids.end())
    std::rotate(own, own + 1, pids.end());
  return pids;
}

}  // namespace

Result<std::vector<pid_t>> AllProcesses() {
  DIR* proc = ::opendir("/proc");
  if (proc == nullptr) return std::unexpected(ErrnoError(errno, "/proc"));
  std::vector<pid_t> pids;
  while (const dirent* entry = ::readdir(proc)) {
    if (const auto pid = WholeNumber<pid_t>(entry->d_name)) pids.push_back(*pid);
  }
  ::closedir(proc);
  return pids;
}

bool HasSocket(pid_t pid, std::uint32_t socket) {
  bool has = false;
  static_cast<void>(ForEachSocket(pid, [&](std::uint32_t number) { return has = number == socket; }));
  return has;
}

FoundOwners FindSocketOwners(std::set<std::uint32_t> sockets, const std::vector<pid_t>& first) {
  FoundOwners found;
  std::vector<pid_t> unseen;
  const auto look_at = [&](pid_t pid) {
    return ForEachSocket(pid, [&](std::uint32_t number) {
      if (sockets.erase(number) > 0) found.owners.emplace(number, pid);
      return sockets.empty();
    });
  };
  for (const pid_t pid : first) {
    if (!sockets.empty()) static_cast<void>(look_at(pid));
  }
  if (sockets.empty()) return found;
  for (const pid_t pid : ProcessesToLookAt()) {
    if (!look_at(pid)) unseen.push_back(pid);
    if (sockets.empty()) return found;
  }
  for (const pid_t pid : unseen) {
    if (const auto uid = AccountOf(pid)) found.unseen_uids.insert(*uid);
  }
  return found;
}

}  // namespace trainyard
