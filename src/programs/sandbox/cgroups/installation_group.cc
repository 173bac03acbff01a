#include "programs/sandbox/cgroups/installation_group.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "base/async/file.h"
#include "base/number.h"
#include "programs/sandbox/cgroups/cgroup.h"
#include "programs/sandbox/cgroups/proc_figures.h"
#include "programs/sandbox/cgroups/process_limit.h"

namespace trainyard::replica {

namespace {

struct Controller {
  const char* name;  ///< the kernel's name
  const char* what;  ///< the resource that it limits
};
/// In the order in which they are tried.
constexpr std::array kControllers = {Controller{"memory", "memory"}, Controller{"cpu", "CPUs"},
                                     Controller{"pids", "processes"}};
/// New processes may start while the others are moved.
constexpr int kMoveRoundsMax = 100;

Status Write(const std::string& path, const std::string& value) {
  TY_TRY(const UniqueFd file, OpenFile(path, O_WRONLY));
  return WriteAll(file.get(), value);
}

Status MakeGroup(const std::string& path) {
  if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST)
    return std::unexpected(ErrnoError(errno, "mkdir " + path));
  return {};
}

bool HasWord(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = words.find_first_of(" \n");
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
  }
  return false;
}

/// Enables a controller for the groups below, in the group's control file.
Status SwitchOn(const std::string& group, const char* controller) {
  TY_TRY(const std::string is_on, ReadFile(group + "/cgroup.subtree_control"));
  if (HasWord(is_on, controller)) return {};
  return Write(group + "/cgroup.subtree_control", std::string("+") + controller);
}

}  // namespace

Result<CgroupView> CgroupView::Own() {
  CgroupView view;
  TY_TRY(view.membership, ReadFile("/proc/self/cgroup"));
  TY_TRY(view.mounts, ReadFile("/proc/self/mountinfo"));
  return view;
}

int CgroupVersion(const CgroupView& view) {
  return FindCgroup(view.membership, view.mounts, "memory").version;
}

std::string OwnGroup(const CgroupView& view) {
  const CgroupPlace place = FindCgroup(view.membership, view.mounts, "memory");
  return place.version == 2 ? place.path : "";
}

std::string BaseGroup(std::string_view own, std::string_view leaf) {
  if (own.ends_with(leaf) && own.size() > leaf.size() && own[own.size() - leaf.size() - 1] == '/')
    own.remove_suffix(leaf.size() + 1);
  return std::string(own);
}

bool CanDivide(const std::string& group) {
  for (const char* file : {"", "/cgroup.procs", "/cgroup.subtree_control"}) {
    if (access((group + file).c_str(), W_OK) != 0) return false;
  }
  return true;
}

bool IsDelegated(const std::string& group) {
  std::array<char, 8> value{};
  for (const char* name : {"user.delegate", "trusted.delegate"}) {
    if (getxattr(group.c_str(), name, value.data(), value.size()) > 0 && value[0] == '1') return true;
  }
  return false;
}

void RemoveLeftGroups(const std::string& directory, const std::string& installation) {
  std::vector<std::string> left;
  for (const std::filesystem::path& entry : PathsIn(directory)) {
    const std::string name = entry.filename();
    if (!name.starts_with(installation + "-")) continue;
    const pid_t maker = WholeNumber<pid_t>(name.substr(name.rfind('-') + 1)).value_or(0);
    if (maker <= 0) continue;
    if (kill(maker, 0) != 0 && errno == ESRCH) left.push_back(entry);
  }
  for (const std::string& group : left)
    rmdir(group.c_str());  // the kernel does not remove one with processes
}

void LeaveOutProcesses(LimitSupport& support) {
  constexpr std::int64_t kSomeLimit = 1'000;
  if (geteuid() == 0 && !CanLimitNamespace(kSomeLimit)) return;
  std::erase_if(support.missing, [](const MissingLimit& one) { return one.what == "processes"; });
}

LimitSupport NoLimits(bool absent, const std::string& why) {
  LimitSupport none;
  for (const Controller& controller : kControllers) none.missing.push_back({controller.what, absent, why});
  return none;
}

/// Processes that cannot be moved (a kernel thread, one that has just ended) stay.
Status MoveToLeaf(const std::string& base, const std::string& leaf) {
  const std::string into = base + "/" + leaf;
  TY_RETURN_IF_ERROR(MakeGroup(into));
  for (int round = 0; round < kMoveRoundsMax; ++round) {
    TY_TRY(const std::string text, ReadFile(base + "/cgroup.procs"));
    bool moved = false;
    for (const pid_t pid : ParsePids(text)) {
      if (pid > 0 && Write(into + "/cgroup.procs", std::to_string(pid))) moved = true;
    }
    if (!moved) break;
  }
  return {};
}

LimitSupport DivideGroup(const std::string& base, const std::string& installation, const std::string& leaf) {
  if (const Status moved = MoveToLeaf(base, leaf); !moved) return NoLimits(false, moved.error().message);
  const std::string group = base + "/" + installation;
  if (const Status made = MakeGroup(group); !made) return NoLimits(false, made.error().message);
  const auto has = ReadFile(base + "/cgroup.controllers");
  if (!has) return NoLimits(false, has.error().message);
  RemoveLeftGroups(group, installation);
  LimitSupport support{.version = 2, .group = group};
  for (const Controller& controller : kControllers) {
    if (!HasWord(*has, controller.name)) {
      support.missing.push_back(
          {controller.what, true,
           std::string("the kernel gives this group no controller '") + controller.name + "'"});
      continue;
    }
    Status on = SwitchOn(base, controller.name);
    if (on) on = SwitchOn(group, controller.name);
    if (on) continue;
    const bool is_memory = &controller == kControllers.data();
    if (is_memory) return NoLimits(false, on.error().message);
    support.missing.push_back({controller.what, false, on.error().message});
  }
  return support;
}

LimitSupport TryVersion1(const CgroupView& view, const std::string& installation) {
  LimitSupport support{.version = 1};
  for (const char* controller : {"memory", "cpu", "pids", "freezer"}) {
    const CgroupPlace place = FindCgroup(view.membership, view.mounts, controller);
    if (place.version == 1) RemoveLeftGroups(place.path, installation);
  }
  const std::string name = "/" + installation + "-trial-" + std::to_string(getpid());
  for (const Controller& controller : kControllers) {
    const CgroupPlace place = FindCgroup(view.membership, view.mounts, controller.name);
    if (place.version != 1) {
      support.missing.push_back(
          {controller.what, true, std::string("no hierarchy of '") + controller.name + "' is mounted"});
      continue;
    }
    const std::string group = place.path + name;
    if (mkdir(group.c_str(), 0755) == 0) {
      rmdir(group.c_str());
      continue;
    }
    const Error error = ErrnoError(errno, "mkdir " + group);
    const bool is_memory = &controller == kControllers.data();
    if (is_memory) return NoLimits(false, error.message);
    support.missing.push_back({controller.what, false, error.message});
  }
  return support;
}

}  // namespace trainyard::replica
