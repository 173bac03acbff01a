#include "engine/local/strays.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/async/file.h"
#include "base/number.h"
#include "base/process/kernel_calls.h"
#include "base/process/process_sockets.h"

namespace trainyard::engine {

namespace {

namespace fs = std::filesystem;
using replica::AttemptDir;

using Folder = std::unique_ptr<DIR, decltype([](DIR* folder) { closedir(folder); })>;

/// How processes of the attempt are recognised.
struct Marks {
  std::string dir;    ///< as in its supervisor's command line
  std::string lock;   ///< as the kernel shows it in /proc
  std::string group;  ///< "/trainyard-0123456789-17-master-replica-0-1-": begins the name of its cgroups
};

Marks MarksOf(const AttemptDir& dir) {
  const fs::path path(dir.path);
  // The directory of all attempts may be missing, too.
  const std::string attempts =
      RealPath(path.parent_path().parent_path()) + "/" + path.parent_path().filename().string();
  const std::string id = path.filename();
  return {.dir = dir.path,
          .lock = RealPath(attempts) + "/" + id + "/lock",
          .group = "/" + replica::InstallationName(attempts) + "-" + id + "-"};
}

/// Whether the error says that the process is gone; after other errors nothing is known.
bool IsGone(int error) { return error == ENOENT || error == ESRCH; }

/// Recognises "trainyard replica DIR": no other program has an attempt's directory as the last word of its
/// command line.
bool IsCalledSo(const std::string& process, const std::string& dir) {
  const std::string command = ReadFile(process + "/cmdline").value_or("");
  const std::string end = std::string(1, '\0') + dir + std::string(1, '\0');
  return command.starts_with(std::string_view("trainyard\0", 10)) && command.ends_with(end);
}

bool IsInGroup(const std::string& process, const Marks& marks) {
  return ReadFile(process + "/cgroup").value_or("").find(marks.group) != std::string::npos;
}

/// Whether the process has the lock open. An error: there are not enough descriptors or memory to find out.
Result<bool> HasLock(const std::string& process, const Marks& marks) {
  const Folder files(opendir((process + "/fd").c_str()));
  if (!files) {
    // A process of another account was not started for one of our attempts.
    if (IsGone(errno) || errno == EACCES || errno == EPERM) return false;
    return std::unexpected(ErrnoError(errno, process + "/fd"));
  }
  std::string target(marks.lock.size() + 64, '\0');
  while (const dirent* entry = readdir(files.get())) {
    const ssize_t size = readlinkat(dirfd(files.get()), entry->d_name, target.data(), target.size());
    if (size <= 0) continue;
    const std::string_view name(target.data(), static_cast<std::size_t>(size));
    if (name == marks.lock || name == marks.lock + " (deleted)") return true;
  }
  return false;
}

Result<bool> IsHolder(const std::string& process, const Marks& marks) {
  if (IsCalledSo(process, marks.dir)) return true;
  return HasLock(process, marks);
}

/// The process that signed the present lock file.
pid_t Signer(const AttemptDir& dir) {
  return LeadingNumber<pid_t>(ReadFile(dir.Lock()).value_or("")).value_or(0);
}

}  // namespace

Result<Strays> FindStrays(const AttemptDir& dir) {
  const Marks marks = MarksOf(dir);
  TY_TRY(const std::vector<pid_t> all, AllProcesses());
  Strays strays;
  for (const pid_t pid : all) {
    if (pid == getpid()) continue;
    const std::string process = "/proc/" + std::to_string(pid);
    TY_TRY(const bool holds, IsHolder(process, marks));
    if (holds) {
      strays.holders.push_back(pid);
    } else if (IsInGroup(process, marks)) {
      strays.members.push_back(pid);
    }
  }
  return strays;
}

void KillStrays(const AttemptDir& dir, const std::vector<pid_t>& pids) {
  const Marks marks = MarksOf(dir);
  for (const pid_t pid : pids) {
    const UniqueFd process = OpenPidfd(pid);
    const std::string path = "/proc/" + std::to_string(pid);
    // The pidfd is open, so what is seen now belongs to the process that gets the signal.
    const bool is_it = process && (IsHolder(path, marks).value_or(false) || IsInGroup(path, marks));
    if (is_it) syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
  }
}

Result<bool> IsHeld(const AttemptDir& dir) {
  struct stat lock{};
  const bool there = stat(dir.Lock().c_str(), &lock) == 0 && S_ISREG(lock.st_mode);
  if (!there && errno != ENOENT && errno != ENOTDIR) return std::unexpected(ErrnoError(errno, dir.Lock()));
  if (there) {
    TY_TRY(const bool locked, replica::IsLocked(dir));
    if (locked) return true;
    const pid_t signer = Signer(dir);
    if (signer == getpid()) return false;
    if (signer > 0)
      return IsCalledSo("/proc/" + std::to_string(signer), dir.path);  // if so, the lock is a copy
  }  // nobody has signed it: no supervisor was started, or it is another file
  TY_TRY(const Strays strays, FindStrays(dir));
  return !strays.holders.empty();
}

UniqueFd OpenStray(const AttemptDir& dir) {
  const Result<Strays> strays = FindStrays(dir);
  if (!strays) return {};
  const Marks marks = MarksOf(dir);
  for (const pid_t pid : strays->holders) {
    UniqueFd process = OpenPidfd(pid);
    const bool is_it = process && IsHolder("/proc/" + std::to_string(pid), marks).value_or(false);
    if (is_it) return process;
  }
  return {};
}

}  // namespace trainyard::engine
