#include "replica/keeper/supervisor_list.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/async/file.h"
#include "base/process/child_process.h"

namespace trainyard::keeper {

namespace {

/// Above the numbers that a supervisor's descriptors have: the program is executed by its own.
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

Result<UniqueFd> OpenProgram(const std::string& path) {
  if (!path.starts_with('/')) return std::unexpected(InvalidArgument("program", path + " is not absolute"));
  TY_TRY(const UniqueFd found, OpenFile(path, O_PATH));
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

SupervisorList::SupervisorList(UnitGroups groups) : groups_(std::move(groups)) {
  for (UnitGroups::Found& found : groups_.FindLiving())
    alive_.push_back({.name = std::move(found.name), .pid = found.pid, .pidfd = std::move(found.pidfd)});
}

Result<SupervisorList::New> SupervisorList::Start(const StartRequest& request,
                                                  const std::vector<UniqueFd>& descriptors) {
  TY_RETURN_IF_ERROR(Check(request, descriptors.size()));
  Reap();
  if (std::ranges::find(alive_, request.name(), &Supervisor::name) != alive_.end())
    return std::unexpected(
        Error{Code::kAlreadyExists, "a supervisor of " + request.name() + " is alive", {}});
  TY_TRY(const UniqueFd program, OpenProgram(request.program()));
  TY_TRY(const UniqueFd group, groups_.Make(request.name()));
  SpawnOptions options{
      .argv = {request.arguments().begin(), request.arguments().end()},
      .program = "/proc/self/fd/" + std::to_string(program.get()),
      .environment = std::vector<std::string>(request.environment().begin(), request.environment().end()),
      .descriptors = {},
      .group = ProcessGroup::kSession,
      .cgroup = group.get(),
      .usual_oom_score = true,
      .action = "start " + request.program() + " as"};
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
