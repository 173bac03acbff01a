#include "engine/local/spawn_supervisor.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace trainyard::engine {

namespace {

/// posix_spawn's two lists, freed together.
struct SpawnLists {
  SpawnLists() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnLists() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnLists(const SpawnLists&) = delete;
  SpawnLists& operator=(const SpawnLists&) = delete;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

void FillLists(const SupervisorSpawn& spawn, SpawnLists& lists) {
  posix_spawn_file_actions_addopen(&lists.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&lists.actions, STDOUT_FILENO, spawn.dir.SupervisorLog().c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&lists.actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&lists.actions, spawn.lock, replica::kInheritedLockFd);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&lists.attributes, &none);
  posix_spawnattr_setsigdefault(&lists.attributes, &all);
  posix_spawnattr_setflags(&lists.attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

}  // namespace

Result<UniqueFd> SpawnSupervisor(const SupervisorSpawn& spawn) {
  std::vector<char*> argv;
  for (const std::string& word : spawn.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  SpawnLists lists;
  FillLists(spawn, lists);
  pid_t pid = -1;
  const int error =
      posix_spawn(&pid, spawn.program.c_str(), &lists.actions, &lists.attributes, argv.data(), environ);
  if (error != 0) return std::unexpected(ErrnoError(error, "start the supervisor " + spawn.program));
  UniqueFd pidfd(
      static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));  // nobody else reaps it: the pid is still its own
  if (!pidfd) return std::unexpected(ErrnoError(errno, "pidfd_open"));
  TY_RETURN_IF_ERROR(replica::SignLock(spawn.lock, pid));
  return pidfd;
}

}  // namespace trainyard::engine
