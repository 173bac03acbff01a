#include "runtimes/attempt_uids.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "async/unique_fd.h"
#include "attempt/attempt_dir.h"
#include "runtimes/daemon_container.h"

namespace trainyard::replica {

namespace {

struct Process {
  pid_t pid = -1;
  pid_t parent = -1;
  std::uint32_t uid = 0;
};

/// The number behind a line's name in /proc/PID/status: "PPid:\t12"; of "Uid:" the real one.
std::optional<std::uint32_t> NumberIn(std::string_view status, std::string_view name) {
  const std::size_t at = status.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  status.remove_prefix(at + name.size());
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(status.data(), status.data() + status.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

/// The owner of the process's files will not do: they are root's while it may not be traced.
void AddProcess(int proc, const char* name, pid_t pid, std::vector<Process>& processes) {
  const UniqueFd file(::openat(proc, (std::string(name) + "/status").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 2048> text{};
  const ssize_t size = file ? ::read(file.get(), text.data(), text.size()) : -1;
  if (size <= 0) return;
  const std::string_view status(text.data(), static_cast<std::size_t>(size));
  const auto parent = NumberIn(status, "\nPPid:\t");
  const auto uid = NumberIn(status, "\nUid:\t");
  if (parent && uid) processes.push_back({.pid = pid, .parent = static_cast<pid_t>(*parent), .uid = *uid});
}

std::vector<Process> ReadProcesses() {
  std::vector<Process> processes;
  DIR* proc = ::opendir("/proc");
  if (proc == nullptr) return processes;
  while (const dirent* entry = ::readdir(proc)) {
    pid_t pid = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, pid).ptr == end)
      AddProcess(::dirfd(proc), entry->d_name, pid, processes);
  }
  ::closedir(proc);
  return processes;
}

/// Supervisors, and the containers that a container daemon runs for them: those are no children of theirs.
struct Roots {
  std::vector<pid_t> supervisors;
  std::vector<pid_t> containers;
};

Roots FindRoots(const std::string& attempts_dir) {
  Roots roots;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(attempts_dir, error), end; !error && entry != end;
       entry.increment(error)) {
    const AttemptDir dir{entry->path().string()};
    const auto supervisor = LockHolder(dir);
    if (!supervisor) continue;
    roots.supervisors.push_back(*supervisor);
    const std::vector<pid_t> containers = NotedContainerPids(dir);
    roots.containers.insert(roots.containers.end(), containers.begin(), containers.end());
  }
  return roots;
}

}  // namespace

std::set<std::uint32_t> FindAttemptUids(const std::string& attempts_dir) {
  const Roots roots = FindRoots(attempts_dir);
  std::set<std::uint32_t> uids;
  if (roots.supervisors.empty()) return uids;
  const std::vector<Process> processes = ReadProcesses();
  std::multimap<pid_t, const Process*> children;
  for (const Process& process : processes) children.emplace(process.parent, &process);
  std::vector<pid_t> pids = roots.supervisors;
  const auto take = [&](const Process& process) {
    uids.insert(process.uid);
    pids.push_back(process.pid);
  };
  for (const Process& process : processes) {
    if (std::ranges::find(roots.containers, process.pid) != roots.containers.end()) take(process);
  }
  std::set<pid_t> seen;
  for (std::size_t i = 0; i < pids.size(); ++i) {
    if (!seen.insert(pids[i]).second) continue;
    const auto [begin, end] = children.equal_range(pids[i]);
    for (auto child = begin; child != end; ++child) take(*child->second);
  }
  return uids;
}

}  // namespace trainyard::replica
