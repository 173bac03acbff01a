#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "programs/sandbox/namespaces/file_view.h"
#include "programs/sandbox/network/connect_door.h"

namespace trainyard::replica {

/// What separates a replica's processes from the rest of the machine, best first.
enum class Isolation {
  kNamespaces,      ///< mount, PID, UTS and IPC namespaces (needs root)
  kUserNamespaces,  ///< the same inside a user namespace
  kNoPidNamespace,  ///< user, mount, UTS and IPC namespaces; processes are tracked by parentage
  kNone,            ///< processes are tracked by parentage
};

/// Numbers of the descriptors that a sandboxed program gets besides 0 (/dev/null), 1 and 2.
inline constexpr int kStructuredLogFd = 100;
inline constexpr int kLockFd = 101;  ///< of a function that asks for it alone
inline constexpr int kResultFd = 102;
/// Hierarchies that a program joins groups of: memory, cpu and pids.
inline constexpr std::size_t kCgroupsMax = 3;

/// What runs in a sandbox and how. Descriptors are borrowed; -1: /dev/null, or not there.
struct SandboxPlan {
  std::vector<std::string> argv;         ///< argv[0] is a path
  std::vector<std::string> environment;  ///< NAME=value: all that there is
  std::string directory;
  std::function<int()>
      function;  ///< runs in a process of its own instead of argv; its exit code is what it returns
  Isolation isolation = Isolation::kNone;
  FileView view;  ///< unless the isolation is kNone
  /// Mounts more, on top of the view; in the new mount namespace.
  std::function<std::optional<ViewFailure>()> mounts;
  int network = -1;  ///< a network namespace; -1: ours
  /// The user namespace that owns the network (network_owner.h), below which the program's own one is then;
  /// -1: we may enter the network ourselves.
  int network_owner = -1;
  std::string host_name;  ///< unless the isolation is kNone; empty: the machine's
  /// In a user namespace the program is root, with the further ids that this machine grants us (id_map.h);
  /// otherwise it is who we are.
  bool root_inside = false;
  /// User namespace whose root the program becomes (user_namespace.h), with the view made by who we are: only
  /// behind kNamespaces, as root. -1: none. Borrowed.
  int users = -1;
  /// The program is a container runtime, which confines what it runs. Any other one is confined here
  /// (confinement.h), whatever the isolation.
  bool keeps_rights = false;
  /// Connections of argv's program that are led elsewhere (connect_doors.h). None: the kernel is asked
  /// nothing.
  std::vector<ConnectDoor> connect_doors{};
  /// Processes and threads; 0: no limit here. In a PID namespace where the kernel can (process_limit.h), else
  /// of the user.
  std::int64_t processes_max = 0;
  int stop_signal = SIGTERM;  ///< what Terminate sends
  int stdout_fd = -1;
  int stderr_fd = -1;
  int structured_fd = -1;
  int result_fd = -1;
  std::vector<int> procs_fds;  ///< cgroup.procs of groups that the program joins; at most kCgroupsMax
  int cgroup_directory = -1;   ///< group of version 2 in which the program starts
  /// The init process keeps it open until all of the sandbox has ended. What runs in the sandbox does not
  /// have it, since whoever has it could let go of the lock.
  int lock_fd = -1;
  /// The function has the lock as kLockFd, for tools of ours that it starts and that must be waited for.
  /// Never for what runs code of the user; means nothing for argv.
  bool function_holds_lock = false;
  /// Directory of a cgroup for the program alone, which joins it: the init process ends what is in it by
  /// KillGroup (kill_group.h), before it looks for what lost its parent. For where there is no PID namespace;
  /// -1: none.
  /// Without one a program that forks faster than /proc is read may hold up its end.
  int kill_group_fd = -1;
  /// Called in the caller's process with the pid of the sandbox's init process, before the program may run:
  /// to note it. An error ends the sandbox, and Start with it.
  std::function<Status(pid_t init)> on_init;
};

/// A tree of processes that ends as a whole: a small init process with the program below it. When the program
/// ends, or the init process loses its supervisor, everything in it is killed. If both are killed, the kernel
/// ends what is in a PID namespace, a moment after it has closed the init process's files; without a PID
/// namespace whatever lives is left, and only the plan's cgroups tell what that is (KillGroup). One thread.
/// The destructor kills it.
class Sandbox {
 public:
  /// How the program ended, as waitpid says.
  struct Ended {
    std::optional<int> wait_status;  ///< nothing if everything was killed before it could be told
  };

  /// Returns once the program runs (exec succeeded). kPermissionDenied: the kernel refuses this isolation
  /// (the message says which step); a shortage (patience.h): it lacks something for it, or for the program,
  /// now; kFailedPrecondition: the program cannot be run (the message says why). Any other error says nothing
  /// about the machine. The plan may be tried again.
  [[nodiscard]] static Result<Sandbox> Start(const SandboxPlan& plan);
  Sandbox(Sandbox&&) noexcept = default;
  Sandbox& operator=(Sandbox&&) = delete;
  ~Sandbox();

  /// Why the plan's connect_doors are not there: an errno. 0: they are.
  [[nodiscard]] int doors_error() const noexcept { return doors_error_; }

  /// The plan's stop signal (SIGTERM) to the program's process group.
  void Terminate() noexcept;
  /// SIGKILL to everything.
  void Kill() noexcept;

  /// Readable when everything has ended.
  [[nodiscard]] int pidfd() const noexcept { return pidfd_.get(); }
  /// Reaps. Call when pidfd() is readable.
  [[nodiscard]] Ended Reap();

 private:
  Sandbox(Isolation isolation, UniqueFd pidfd, UniqueFd control)
      : isolation_(isolation), pidfd_(std::move(pidfd)), control_(std::move(control)) {}

  Isolation isolation_;
  int doors_error_ = 0;
  UniqueFd pidfd_;
  UniqueFd control_;
};

}  // namespace trainyard::replica
