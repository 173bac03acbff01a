#include "replica/keeper/unit_groups.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "programs/sandbox/cgroups/cgroup_place.h"
#include "programs/sandbox/cgroups/installation_group.h"
#include "programs/sandbox/cgroups/kill_group.h"
#include "programs/sandbox/cgroups/proc_figures.h"

namespace trainyard::keeper {

namespace {

namespace fs = std::filesystem;
using replica::CgroupView;

constexpr std::string_view kPrefix = "supervisor-";
/// Of no hierarchy of version 1: finds the place in version 2's, also where that has no controllers (hybrid).
constexpr const char* kNoController = "-";
constexpr const char* kDelegate = "Give the keeper's unit Delegate=yes";

std::vector<std::string> Subdirectories(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    if (entry->is_directory(gone)) names.push_back(entry->path().filename());
  }
  return names;
}

/// 0: it is gone. The name in parentheses may hold anything.
pid_t ParentOf(pid_t pid) {
  const auto stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  if (!stat) return 0;
  const std::size_t after = stat->rfind(") ");
  constexpr std::size_t kState = 4;  // ") S "
  if (after == std::string::npos || after + kState > stat->size()) return 0;
  pid_t parent = 0;
  std::from_chars(stat->data() + after + kState, stat->data() + stat->size(), parent);
  return parent;
}

std::vector<pid_t> Processes(const std::string& group) {
  return replica::ParsePids(ReadFile(group + "/cgroup.procs").value_or(""));
}

}  // namespace

UnitGroups UnitGroups::Find() {
  UnitGroups groups;
  const auto view = CgroupView::Own();
  if (!view) return groups;
  const replica::CgroupPlace own = replica::FindCgroup(view->membership, view->mounts, kNoController);
  const std::string base = replica::BaseGroup(own.path, kOwnLeaf);
  if (base.empty() || !replica::IsDelegated(base) || !replica::CanDivide(base)) return groups;
  if (const Status moved = replica::MoveToLeaf(base, kOwnLeaf); !moved) {
    Diagnose(DiagnosticLevel::kWarning, "cgroups stay as they are: " + moved.error().message);
    return groups;
  }
  groups.base_ = base;
  return groups;
}

LimitsAnswer UnitGroups::Limits(const std::string& installation) const {
  const auto view = CgroupView::Own();
  if (!view) return AsAnswer(replica::NoLimits(true, view.error().message), "");
  replica::LimitSupport support;
  std::string advice;
  switch (replica::CgroupVersion(*view)) {
    case 0:
      support = replica::NoLimits(true, "no cgroup file system is mounted");
      advice = "Mount cgroup2 at /sys/fs/cgroup";
      break;
    case 1: support = replica::TryVersion1(*view, installation); break;
    default:
      if (exist()) {
        support = replica::DivideGroup(base_, installation, kOwnLeaf);
      } else {
        support =
            replica::NoLimits(false, "the keeper's group " + replica::OwnGroup(*view) + " is not delegated");
        advice = kDelegate;
      }
  }
  replica::LeaveOutProcesses(support);
  return AsAnswer(support, advice);
}

std::string UnitGroups::PathOf(std::string_view name) const {
  return base_ + "/" + std::string(kPrefix) + std::string(name);
}

Result<UniqueFd> UnitGroups::Make(const std::string& name) const {
  if (!exist()) return UniqueFd();
  const std::string path = PathOf(name);
  if (mkdir(path.c_str(), 0755) != 0) {
    if (errno != EEXIST) return std::unexpected(ErrnoError(errno, "mkdir " + path));
    // One that ended may have left it.
    if (!Remove(name) || mkdir(path.c_str(), 0755) != 0)
      return std::unexpected(Error{Code::kAlreadyExists, "something of " + name + " is alive", {}});
  }
  return OpenFile(path, O_RDONLY | O_DIRECTORY);
}

bool UnitGroups::Remove(const std::string& name) const noexcept {
  return !exist() || rmdir(PathOf(name).c_str()) == 0 || errno == ENOENT;
}

std::vector<UnitGroups::Found> UnitGroups::FindLiving() const {
  std::vector<Found> living;
  if (!exist()) return living;
  for (const std::string& directory : Subdirectories(base_)) {
    if (!directory.starts_with(kPrefix)) continue;
    const std::string path = base_ + "/" + directory;
    for (const pid_t pid : Processes(path)) {
      UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
      const std::vector<pid_t> still = Processes(path);  // it is in the group while we hold its pidfd
      const auto is_there = [&still](pid_t one) { return std::ranges::find(still, one) != still.end(); };
      if (!pidfd || !is_there(pid) || is_there(ParentOf(pid))) continue;
      living.push_back({.name = directory.substr(kPrefix.size()), .pid = pid, .pidfd = std::move(pidfd)});
      break;
    }
    rmdir(path.c_str());  // works for one in which nothing lives
  }
  return living;
}

Status UnitGroups::KillAll(std::chrono::milliseconds wait_max) const {
  Status killed;
  if (!exist()) return killed;
  for (const std::string& directory : Subdirectories(base_)) {
    if (directory == kOwnLeaf || directory.starts_with('.')) continue;  // systemd's own: ".control"
    if (Status one = replica::KillGroup(base_ + "/" + directory, wait_max); !one) killed = std::move(one);
  }
  return killed;
}

}  // namespace trainyard::keeper
