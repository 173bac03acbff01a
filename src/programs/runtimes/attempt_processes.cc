#include "programs/runtimes/attempt_processes.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/async/file.h"
#include "base/async/unique_fd.h"
#include "base/number.h"
#include "base/process/process_sockets.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/runtimes/daemon_container.h"

namespace trainyard::replica {

namespace {

struct Process {
  pid_t pid = -1;
  pid_t parent = -1;
  std::uint32_t uid = 0;
};

/// The number after a line's name in /proc/PID/status: "PPid:\t12"; for "Uid:" the real one.
std::optional<std::uint32_t> NumberIn(std::string_view status, std::string_view name) {
  const std::size_t at = status.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  status.remove_prefix(at + name.size());
  return LeadingNumber<std::uint32_t>(status);
}

/// The user comes from the process's status, since the owner of its files in /proc is root while it may not
/// be traced.
std::vector<Process> ReadProcesses() {
  std::vector<Process> processes;
  for (const pid_t pid : AllProcesses().value_or(std::vector<pid_t>())) {
    const std::string status = ReadFile("/proc/" + std::to_string(pid) + "/status").value_or("");
    const auto parent = NumberIn(status, "\nPPid:\t");
    const auto uid = NumberIn(status, "\nUid:\t");
    if (parent && uid) processes.push_back({.pid = pid, .parent = static_cast<pid_t>(*parent), .uid = *uid});
  }
  return processes;
}

/// The supervisors, and the containers that a container daemon runs for them (which are not their children),
/// with the ids of their attempts.
struct Roots {
  std::map<pid_t, std::string> supervisors;
  std::map<pid_t, std::string> containers;
};

Roots FindRoots(const std::string& attempts_dir) {
  Roots roots;
  for (const std::filesystem::path& entry : PathsIn(attempts_dir)) {
    const AttemptDir dir{entry.string()};
    const auto supervisor = LockHolder(dir);
    if (!supervisor) continue;
    const std::string attempt_id = entry.filename().string();
    roots.supervisors.emplace(*supervisor, attempt_id);
    for (const pid_t container : NotedContainerPids(dir)) roots.containers.emplace(container, attempt_id);
  }
  return roots;
}

/// The attempt whose shell the process is, which the server or the agent has started
/// (replica/shell/replica_shell.h): its command line is "trainyard", "replica-shell" and the attempt's
/// directory. Only for children of this process: the command lines of others prove nothing.
std::optional<std::string> AttemptOfShell(pid_t pid, const std::string& attempts_dir) {
  using namespace std::string_view_literals;
  const std::string words = ReadFile("/proc/" + std::to_string(pid) + "/cmdline").value_or("");
  const std::string begin = std::string("trainyard\0replica-shell\0"sv) + attempts_dir + "/";
  if (!words.starts_with(begin)) return std::nullopt;
  return words.substr(begin.size(), words.find('\0', begin.size()) - begin.size());
}

using Children = std::multimap<pid_t, const Process*>;

Children ByParent(const std::vector<Process>& processes) {
  Children children;
  for (const Process& process : processes) children.emplace(process.parent, &process);
  return children;
}

bool Has(pid_t pid, ConnectionEnd end) {
  return (end.pid != 0 && pid == end.pid) || (end.socket != 0 && HasSocket(pid, end.socket));
}

}  // namespace

std::vector<AttemptProcess> FindAttemptProcesses(const std::string& attempts_dir) {
  const Roots roots = FindRoots(attempts_dir);
  std::vector<AttemptProcess> found;
  if (roots.supervisors.empty()) return found;
  const std::vector<Process> processes = ReadProcesses();
  found.reserve(
      processes.size());  // elements added below do not move existing ones, since each is added once
  const Children children = ByParent(processes);
  std::set<pid_t> seen;
  const auto take = [&](const Process& process, const std::string& attempt_id) {
    if (seen.insert(process.pid).second)
      found.push_back({.pid = process.pid, .uid = process.uid, .attempt_id = attempt_id});
  };
  const auto take_children = [&](pid_t parent, const std::string& attempt_id) {
    const auto [begin, end] = children.equal_range(parent);
    for (auto child = begin; child != end; ++child) take(*child->second, attempt_id);
  };
  for (const Process& process : processes) {
    const auto container = roots.containers.find(process.pid);
    if (container != roots.containers.end()) take(process, container->second);
  }
  const auto [own, last] = children.equal_range(::getpid());
  for (auto child = own; child != last; ++child) {
    const pid_t pid = child->second->pid;
    if (roots.supervisors.contains(pid)) continue;
    if (const auto attempt_id = AttemptOfShell(pid, attempts_dir)) take_children(pid, *attempt_id);
  }
  for (const auto& [supervisor, attempt_id] : roots.supervisors) {
    seen.insert(supervisor);
    take_children(supervisor, attempt_id);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    const AttemptProcess& parent = found[i];
    take_children(parent.pid, parent.attempt_id);
  }
  return found;
}

std::optional<std::string> FindAttemptOf(const std::string& attempts_dir, ConnectionEnd end) {
  std::optional<std::string> found;
  for (AttemptProcess& process : FindAttemptProcesses(attempts_dir)) {
    if (process.attempt_id == found || !Has(process.pid, end)) continue;
    if (found) return std::nullopt;
    found = std::move(process.attempt_id);
  }
  return found;
}

std::optional<std::string> FindOnlyAttempt(const std::string& attempts_dir) {
  const Roots roots = FindRoots(attempts_dir);
  if (roots.supervisors.size() != 1) return std::nullopt;
  return roots.supervisors.begin()->second;
}

bool IsBelow(pid_t ancestor, ConnectionEnd end) {
  const std::vector<Process> processes = ReadProcesses();
  const Children children = ByParent(processes);
  std::vector<pid_t> below{ancestor};
  for (std::size_t i = 0; i < below.size(); ++i) {
    if (Has(below[i], end)) return true;
    const auto [begin, last] = children.equal_range(below[i]);
    for (auto child = begin; child != last; ++child) below.push_back(child->second->pid);
  }
  return false;
}

std::set<std::uint32_t> FindAttemptUids(const std::string& attempts_dir) {
  std::set<std::uint32_t> uids;
  for (const AttemptProcess& process : FindAttemptProcesses(attempts_dir)) uids.insert(process.uid);
  return uids;
}

}  // namespace trainyard::replica
