#include "programs/sandbox/cgroups/descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <ctime>
#include <map>
#include <string>

#include "base/async/unique_fd.h"

namespace trainyard::replica {

namespace {

std::map<pid_t, std::vector<pid_t>> Children() {
  std::map<pid_t, std::vector<pid_t>> children;
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return children;
  while (const dirent* entry = readdir(proc)) {
    pid_t pid = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, pid).ptr != end) continue;
    const UniqueFd stat(
        openat(dirfd(proc), (std::string(entry->d_name) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 512> text{};
    const ssize_t size = stat ? read(stat.get(), text.data(), text.size()) : -1;
    if (size > 0) children[ParentFromStat({text.data(), static_cast<std::size_t>(size)})].push_back(pid);
  }
  closedir(proc);
  return children;
}

}  // namespace

pid_t ParentFromStat(std::string_view stat) noexcept {
  const std::size_t name_end = stat.rfind(") ");  // the name may hold anything, also ") "
  if (name_end == std::string_view::npos || stat.size() < name_end + 5) return -1;
  pid_t parent = -1;
  std::from_chars(stat.data() + name_end + 4, stat.data() + stat.size(), parent);
  return parent;
}

std::vector<pid_t> Descendants(pid_t root) {
  std::map<pid_t, std::vector<pid_t>> children = Children();
  std::vector<pid_t> found = {root};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<pid_t> below = std::exchange(children[found[i]], {});
    found.insert(found.end(), below.begin(), below.end());
  }
  found.erase(found.begin());
  return found;
}

void KillDescendants() noexcept {
  for (;;) {
    pid_t reaped = 0;
    do {
      reaped = waitpid(-1, nullptr, WNOHANG);
    } while (reaped > 0);
    if (reaped < 0 && errno == ECHILD) return;
    for (const pid_t pid : Descendants(getpid())) kill(pid, SIGKILL);
    const timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace trainyard::replica
