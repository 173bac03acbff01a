#include "replica/keeper/supervisor_list.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/process/child_process.h"
#include "base/process/kernel_calls.h"
#include "programs/sandbox/cgroups/cgroup.h"
#include "programs/sandbox/cgroups/installation_group.h"
#include "programs/sandbox/cgroups/kill_group.h"
#include "programs/sandbox/cgroups/proc_figures.h"

namespace trainyard::keeper {

namespace {

namespace fs = std::filesystem;
using replica::CgroupView;

constexpr std::string_view kPrefix = "supervisor-";
/// Names no controller of version 1: finds the group in version 2's hierarchy, also if that has no
/// controllers (hybrid).
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

/// The parent's id; -1: the process is gone.
pid_t ParentOf(pid_t pid) {
  return replica::ParentFromStat(ReadFile("/proc/" + std::to_string(pid) + "/stat").value_or(""));
}

std::vector<pid_t> Processes(const std::string& group) {
  return replica::ParsePids(ReadFile(group + "/cgroup.procs").value_or(""));
}

/// Above the numbers of a supervisor's descriptors: the program is executed by its descriptor.
constexpr int kProgramNumberMin = 100;
constexpr std::uint32_t kNumberMax = 15;

Status Check(const StartRequest& request, std::size_t descriptors) {
  const auto refuse = [](const char* field, const char* why) {
    return std::unexpected(InvalidArgument(field, why));
  };
  if (!IsGroupName(request.name())) return refuse("name", "this is no name for a group");
  if (request.arguments().empty()) return refuse("arguments", "there is no argv[0]");
  if (static_cast<std::size_t>(request.numbers_size()) != descriptors)
    return refuse("numbers", "not as many as descriptors");
  for (const std::uint32_t number : request.numbers()) {
    if (number > kNumberMax) return refuse("numbers", "a descriptor's number is above 15");
  }
  return {};
}

bool HasEnded(int pidfd) {
  pollfd ended{.fd = pidfd, .events = POLLIN, .revents = 0};
  return poll(&ended, 1, 0) > 0;
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
    // An ended supervisor may have left it.
    if (!Remove(name) || mkdir(path.c_str(), 0755) != 0)
      return std::unexpected(Error{Code::kAlreadyExists, "something of " + name + " is alive", {}});
  }
  return OpenFile(path, O_RDONLY | O_DIRECTORY);
}

bool UnitGroups::Remove(const std::string& name) const noexcept {
  return !exist() || rmdir(PathOf(name).c_str()) == 0 || errno == ENOENT;
}

std::vector<UnitGroups::LivingSupervisor> UnitGroups::FindLiving() const {
  std::vector<LivingSupervisor> living;
  if (!exist()) return living;
  for (const std::string& directory : Subdirectories(base_)) {
    if (!directory.starts_with(kPrefix)) continue;
    const std::string path = base_ + "/" + directory;
    for (const pid_t pid : Processes(path)) {
      UniqueFd pidfd = OpenPidfd(pid);
      const std::vector<pid_t> still = Processes(path);  // a pidfd found in the group is still that process
      const auto is_there = [&still](pid_t one) { return std::ranges::find(still, one) != still.end(); };
      if (!pidfd || !is_there(pid) || is_there(ParentOf(pid))) continue;
      living.push_back({.name = directory.substr(kPrefix.size()), .pid = pid, .pidfd = std::move(pidfd)});
      break;
    }
    rmdir(path.c_str());  // only succeeds if it is empty
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

Result<UniqueFd> CheckProgram(const std::string& path, const UniqueFd& found) {
  struct stat file{};
  if (fstat(found.get(), &file) != 0) return std::unexpected(ErrnoError(errno, "stat " + path));
  const auto refuse = [&path](const std::string& why) {
    return std::unexpected(Error{Code::kPermissionDenied, path + " is not executed: " + why, {}});
  };
  if (!S_ISREG(file.st_mode)) return refuse("it is not a file");
  if (file.st_uid != 0 && file.st_uid != geteuid())
    return refuse("it belongs to user " + std::to_string(file.st_uid) + ", not to root or this account");
  if ((file.st_mode & (S_IWGRP | S_IWOTH)) != 0) return refuse("others can write to it");
  UniqueFd program(fcntl(found.get(), F_DUPFD_CLOEXEC, kProgramNumberMin));
  if (!program) return std::unexpected(ErrnoError(errno, "duplicate descriptor"));
  return program;
}

SupervisorList::SupervisorList(UnitGroups groups, SupervisorForm form)
    : groups_(std::move(groups)),
      form_(form),
      own_program_(OpenFile("/proc/self/exe", O_PATH).value_or(UniqueFd())) {
  for (UnitGroups::LivingSupervisor& found : groups_.FindLiving())
    alive_.push_back({.name = std::move(found.name), .pid = found.pid, .pidfd = std::move(found.pidfd)});
}

/// A file that runs cannot be written to, and its inode is not used again: the same one has the same
/// contents.
bool SupervisorList::IsOwnProgram(const UniqueFd& program) const {
  struct stat own{};
  struct stat other{};
  return own_program_ && fstat(own_program_.get(), &own) == 0 && fstat(program.get(), &other) == 0 &&
         own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

Result<SupervisorList::New> SupervisorList::Start(const StartRequest& request,
                                                  const std::vector<UniqueFd>& descriptors) {
  TY_RETURN_IF_ERROR(Check(request, descriptors.size()));
  Reap();
  if (std::ranges::find(alive_, request.name(), &Supervisor::name) != alive_.end())
    return std::unexpected(
        Error{Code::kAlreadyExists, "a supervisor of " + request.name() + " is alive", {}});
  const std::string& path = request.program();
  if (!path.starts_with('/')) return std::unexpected(InvalidArgument("program", path + " is not absolute"));
  TY_TRY(const UniqueFd found, OpenFile(path, O_PATH));
  const SupervisorMain main = IsOwnProgram(found) ? form_.main : nullptr;
  UniqueFd checked;
  std::string file = main != nullptr ? "/proc/self/exe" : path;
  if (main == nullptr && !form_.is_private) {
    TY_TRY(checked, CheckProgram(path, found));
    file = "/proc/self/fd/" + std::to_string(checked.get());
  }
  TY_TRY(const UniqueFd group, groups_.Make(request.name()));
  SpawnOptions options{
      .argv = {request.arguments().begin(), request.arguments().end()},
      .program = std::move(file),
      .environment = std::vector<std::string>(request.environment().begin(), request.environment().end()),
      .descriptors = {},
      .group = ProcessGroup::kSession,
      .cgroup = group.get(),
      .usual_oom_score = !form_.is_private,
      .main = {},
      .action = "start " + path + " as"};
  if (main != nullptr) options.main = [main](int argc, char** argv) { return main(argc - 1, argv + 1); };
  for (std::size_t i = 0; i < descriptors.size(); ++i)
    options.descriptors.emplace_back(descriptors[i].get(), request.numbers(static_cast<int>(i)));
  Result<ChildProcess> started = ChildProcess::Spawn(std::move(options));
  if (!started) {
    groups_.Remove(request.name());
    return std::unexpected(std::move(started).error());
  }
  const pid_t pid = started->pid();
  alive_.push_back({.name = request.name(), .pid = pid, .pidfd = std::move(*started).Detach()});
  return New{.pid = pid, .pidfd = alive_.back().pidfd.get()};
}

void SupervisorList::AddTo(std::vector<pollfd>& waited) const {
  for (const Supervisor& one : alive_)
    waited.push_back({.fd = one.pidfd.get(), .events = POLLIN, .revents = 0});
}

void SupervisorList::Reap() {
  const auto ended = [this](const Supervisor& one) {
    if (!HasEnded(one.pidfd.get())) return false;
    siginfo_t info{};
    waitid(P_PIDFD, static_cast<id_t>(one.pidfd.get()), &info,
           WEXITED | WNOHANG);  // fails for an earlier one's
    left_.push_back(one.name);
    return true;
  };
  std::erase_if(alive_, ended);
  std::erase_if(left_, [this](const std::string& name) { return groups_.Remove(name); });
}

void SupervisorList::Signal(int signal) const {
  for (const Supervisor& one : alive_) syscall(SYS_pidfd_send_signal, one.pidfd.get(), signal, nullptr, 0);
}

void SupervisorList::Terminate() const { Signal(SIGTERM); }

Status SupervisorList::Kill(std::chrono::milliseconds wait_max) {
  Signal(SIGKILL);
  const auto deadline = std::chrono::steady_clock::now() + wait_max;
  Status killed = groups_.KillAll(wait_max);
  for (Reap(); !alive_.empty() && std::chrono::steady_clock::now() < deadline; Reap()) {
    std::vector<pollfd> waited;
    AddTo(waited);
    constexpr int kPauseMilliseconds = 100;
    poll(waited.data(), waited.size(), kPauseMilliseconds);
  }
  if (killed && !alive_.empty())
    killed = std::unexpected(Error{Code::kDeadlineExceeded,
                                   std::to_string(alive_.size()) + " supervisors do not end although killed",
                                   {}});
  return killed;
}

}  // namespace trainyard::keeper
