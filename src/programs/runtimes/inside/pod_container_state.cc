#include "programs/runtimes/inside/pod_container_state.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

namespace trainyard::replica::pod {

namespace {

/// -1: it cannot be read.
int ReadOomKills(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  char text[1024] = {};
  const ssize_t size = read(file, text, sizeof(text) - 1);
  close(file);
  constexpr const char* kLine = "\noom_kill ";
  const char* line = size > 0 ? strstr(text, kLine) : nullptr;
  return line != nullptr ? atoi(line + strlen(kLine)) : -1;
}

/// The number in the file; 0: there is none, or it is a word.
int64_t ReadNumber(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[32] = {};
  const ssize_t size = read(file, text, sizeof(text) - 1);
  close(file);
  return size > 0 ? strtoll(text, nullptr, 10) : 0;
}

/// The parent of the process; -1: it is unknown.
pid_t ParentOf(const char* process) {
  char text[512] = {};
  snprintf(text, sizeof(text), "/proc/%.20s/stat", process);
  const int file = open(text, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const ssize_t size = read(file, text, sizeof(text) - 1);
  close(file);
  text[size > 0 ? size : 0] = 0;
  // PID (NAME) STATE PARENT, where the name may have any characters.
  const char* name_end = strrchr(text, ')');
  return name_end != nullptr && strlen(name_end) > 4 ? atoi(name_end + 4) : -1;
}

}  // namespace

int OomKills() {
  const int kills = ReadOomKills("/sys/fs/cgroup/memory.events");
  return kills >= 0 ? kills : ReadOomKills("/sys/fs/cgroup/memory/memory.oom_control");
}

MemoryOfContainer ContainerMemory() {
  // Without a limit, version 1 says the largest number of pages.
  constexpr int64_t kNoLimit = int64_t{1} << 60;
  MemoryOfContainer memory{ReadNumber("/sys/fs/cgroup/memory.max"), ReadNumber("/sys/fs/cgroup/memory.peak")};
  if (memory.limit_bytes == 0) memory.limit_bytes = ReadNumber("/sys/fs/cgroup/memory/memory.limit_in_bytes");
  if (memory.peak_bytes == 0)
    memory.peak_bytes = ReadNumber("/sys/fs/cgroup/memory/memory.max_usage_in_bytes");
  if (memory.limit_bytes >= kNoLimit) memory.limit_bytes = 0;
  return memory;
}

void KillOthers() {
  if (getpid() == 1) {
    kill(-1, SIGKILL);
    return;
  }
  DIR* processes = opendir("/proc");
  if (processes == nullptr) return;
  while (const dirent* entry = readdir(processes)) {
    const pid_t process = atoi(entry->d_name);
    if (process > 0 && ParentOf(entry->d_name) == getpid()) kill(process, SIGKILL);
  }
  closedir(processes);
}

}  // namespace trainyard::replica::pod
