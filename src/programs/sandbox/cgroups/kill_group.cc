#include "programs/sandbox/cgroups/kill_group.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "base/async/unique_fd.h"
#include "programs/sandbox/cgroups/cgroup.h"

namespace trainyard::replica {

namespace {

namespace fs = std::filesystem;
using Time = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

constexpr milliseconds kPause{1};
/// The longest wait until a whole group is frozen. A process that the kernel cannot stop (a disk does not
/// answer) does not fork either.
constexpr milliseconds kFreezeMax{100};
/// The kernel takes a moment between a process's end and its cgroup being empty.
constexpr int kRemoveAttemptsMax = 100;

void Pause() {
  const timespec pause{.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(kPause).count()};
  nanosleep(&pause, nullptr);
}

/// Waits until `holds` returns true; false once `deadline` has passed.
bool WaitUntil(const std::function<bool()>& holds, Time deadline) {
  while (!holds()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    Pause();
  }
  return true;
}

bool Has(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

bool Write(const std::string& path, std::string_view text) {
  const auto file = OpenFile(path, O_WRONLY);
  return file && WriteAll(file->get(), text).has_value();
}

/// Adds the pids in the group and those below it. Processes in PID namespaces that are neither ours nor
/// descendants of ours read as 0.
void AddPids(const std::string& directory, std::vector<pid_t>& pids) {
  const std::string text = ReadFile(directory + "/cgroup.procs").value_or("");
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    pid_t pid = 0;
    at = std::from_chars(at, end, pid).ptr;
    if (pid > 0) pids.push_back(pid);
    while (at < end && (*at < '0' || *at > '9')) ++at;
  }
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), none; !error && entry != none;
       entry.increment(error)) {
    std::error_code gone;
    if (entry->is_directory(gone) && !entry->is_symlink(gone)) AddPids(entry->path(), pids);
  }
}

std::vector<pid_t> Pids(const std::string& directory) {
  std::vector<pid_t> pids;
  AddPids(directory, pids);
  std::erase(pids, getpid());
  return pids;
}

/// If a pid is in the group after its pidfd was opened, the pidfd refers to that process, or the process is
/// gone.
void KillSome(const std::string& directory, std::span<const pid_t> pids) {
  std::vector<std::pair<pid_t, UniqueFd>> opened;
  for (const pid_t pid : pids) {
    if (UniqueFd pidfd{static_cast<int>(syscall(SYS_pidfd_open, pid, 0))})
      opened.emplace_back(pid, std::move(pidfd));
  }
  std::vector<pid_t> still = Pids(directory);
  std::ranges::sort(still);
  for (const auto& [pid, pidfd] : opened) {
    if (std::ranges::binary_search(still, pid))
      syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0);
  }
}

void KillAll(const std::string& directory) {
  constexpr std::size_t kAtOnce = 256;  // of descriptors
  const std::vector<pid_t> all = Pids(directory);
  for (std::span<const pid_t> rest = all; !rest.empty();) {
    const std::size_t size = std::min(rest.size(), kAtOnce);
    KillSome(directory, rest.first(size));
    rest = rest.subspan(size);
  }
}

/// Freezes a whole group while this object lives, if the kernel has a freezer for it. With version 1 a killed
/// process only ends afterwards.
class Freeze {
 public:
  explicit Freeze(const std::string& directory) {
    if (Has(directory + "/freezer.state")) {
      file_ = directory + "/freezer.state";
      thaw_ = "THAWED";
      if (Write(file_, "FROZEN")) AwaitState(file_, "FROZEN");
    } else if (Has(directory + "/cgroup.freeze")) {
      file_ = directory + "/cgroup.freeze";
      thaw_ = "0";
      if (Write(file_, "1")) AwaitState(directory + "/cgroup.events", "frozen 1");
    }
  }
  Freeze(const Freeze&) = delete;
  Freeze& operator=(const Freeze&) = delete;
  ~Freeze() {
    if (!file_.empty()) Write(file_, thaw_);
  }

 private:
  static void AwaitState(const std::string& file, std::string_view state) {
    const auto stands = [&] { return ReadFile(file).value_or("").find(state) != std::string::npos; };
    WaitUntil(stands, std::chrono::steady_clock::now() + kFreezeMax);
  }

  std::string file_;
  std::string_view thaw_;
};

}  // namespace

bool HasProcesses(const std::string& directory) { return !Pids(directory).empty(); }

Status KillGroup(const std::string& directory, milliseconds wait_max) {
  const Time deadline = std::chrono::steady_clock::now() + wait_max;
  while (HasProcesses(directory)) {
    if (!Has(directory + "/cgroup.kill") || !Write(directory + "/cgroup.kill", "1")) {
      const Freeze freeze(directory);
      KillAll(directory);
    }
    if (!HasProcesses(directory)) break;
    if (std::chrono::steady_clock::now() >= deadline)
      return std::unexpected(Error{Code::kDeadlineExceeded,
                                   "processes in " + directory + " do not end although they were killed",
                                   {}});
    Pause();
  }
  return {};
}

void RemoveGroup(const std::string& directory) noexcept {
  for (int attempt = 0; attempt < kRemoveAttemptsMax; ++attempt) {
    if (rmdir(directory.c_str()) == 0 || errno != EBUSY) return;
    Pause();
  }
}

Result<FreezerGroup> FreezerGroup::Create(std::string_view name) {
  TY_TRY(const std::string membership, ReadFile("/proc/self/cgroup"));
  TY_TRY(const std::string mounts, ReadFile("/proc/self/mountinfo"));
  const CgroupPlace place = FindCgroup(membership, mounts, "freezer");
  if (place.path.empty() || place.version != 1)
    return std::unexpected(FailedPrecondition("the freezer of cgroup version 1 is not mounted"));
  const std::string path = place.path + "/" + std::string(name);
  if (mkdir(path.c_str(), 0755) != 0) return std::unexpected(ErrnoError(errno, "mkdir " + path));
  FreezerGroup group;
  group.path_ = path;
  return group;
}

FreezerGroup::FreezerGroup(FreezerGroup&& other) noexcept : path_(std::exchange(other.path_, {})) {}

FreezerGroup& FreezerGroup::operator=(FreezerGroup&& other) noexcept {
  if (this == &other) return *this;
  Remove();
  path_ = std::exchange(other.path_, {});
  return *this;
}

void FreezerGroup::Remove() noexcept {
  if (path_.empty()) return;
  RemoveGroup(path_);
  path_.clear();
}

}  // namespace trainyard::replica
