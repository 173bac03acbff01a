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
#include "programs/sandbox/namespaces/writable_folder.h"
#include "programs/sandbox/network/connect_door.h"

namespace trainyard::replica {

/// What separates a replica's processes from the rest of the machine, best first.
enum class Isolation {
  kNamespaces,      ///< mount, PID, UTS and IPC namespaces (needs root)
  kUserNamespaces,  ///< the same inside a user namespace
  kNoPidNamespace,  ///< user, mount, UTS and IPC namespaces; processes are tracked by parentage
  kNone,            ///< processes are tracked by parentage
};

/// Numbers of the descriptors that a sandboxed program gets in addition to 0 (/dev/null), 1 and 2.
inline constexpr int kStructuredLogFd = 100;
inline constexpr int kLockFd = 101;  ///< only for a function that requests it
inline constexpr int kResultFd = 102;
/// The most hierarchies in which a program joins a group: memory, cpu and pids.
inline constexpr std::size_t kCgroupsMax = 3;

/// What runs in a sandbox and how. The caller keeps owning the descriptors; -1: /dev/null, or none.
struct SandboxPlan {
  std::vector<std::string> argv;         ///< argv[0] is a path
  std::vector<std::string> environment;  ///< NAME=value: the complete environment
  std::string directory;
  std::function<int()> function;  ///< runs in the sandbox instead of argv; its result is the exit code
  Isolation isolation = Isolation::kNone;
  FileView view;                           ///< ignored if the isolation is kNone
  std::optional<WritableFolder> writable;  ///< ignored if the isolation is kNone
  /// Makes further mounts on top of the view, in the new mount namespace.
  std::function<std::optional<ViewFailure>()> mounts;
  int network = -1;  ///< a network namespace; -1: the caller's
  /// The user namespace that owns the network (network_owner.h); the program's user namespace is then made
  /// below it. -1: the caller can enter the network itself.
  int network_owner = -1;
  std::string host_name;  ///< ignored if the isolation is kNone; empty: the machine's
  /// In a user namespace the program is root, with our subordinate ids (id_map.h); otherwise it has our
  /// user's id.
  bool root_inside = false;
  /// User namespace whose root the program becomes (id_map.h), while the view is made with our own
  /// rights: only with kNamespaces, as root. -1: none. The caller keeps owning it.
  int users = -1;
  /// The program is a container runtime, which restricts what it runs. Any other program is restricted here
  /// (confinement.h), whatever the isolation.
  bool keeps_rights = false;
  /// Redirections of connections of argv's program (connect_doors.h). Empty: no filter is installed for them.
  std::vector<ConnectDoor> connect_doors{};
  /// A connection to a warm interpreter (warm_program.h) that becomes argv's program, if it can. -1: none.
  /// The caller keeps owning it, and uses it for one sandbox.
  int mother = -1;
  /// The most processes and threads; 0: no limit here. The limit is on the PID namespace if the kernel
  /// supports that (process_limit.h), otherwise on the user.
  std::int64_t processes_max = 0;
  int stop_signal = SIGTERM;  ///< what Terminate sends
  int stdout_fd = -1;
  int stderr_fd = -1;
  int structured_fd = -1;
  int result_fd = -1;
  std::vector<int> procs_fds;  ///< cgroup.procs of groups that the program joins; at most kCgroupsMax
  int cgroup_directory = -1;   ///< version 2 group in which the program starts
  /// The init process keeps this lock open until the whole sandbox has ended. Programs in the sandbox do not
  /// get it, since they could release the lock.
  int lock_fd = -1;
  /// The function gets the lock as kLockFd, for our tools that it starts and that must be waited for. Never
  /// set it for the user's code; it has no effect on argv.
  bool function_holds_lock = false;
  /// Directory of a cgroup for the program alone, which joins it: the init process ends all processes in it
  /// by KillGroup (kill_group.h), before it searches for orphans. For use without a PID namespace; -1: none.
  /// Without one a program that forks faster than /proc is read may delay its end.
  int kill_group_fd = -1;
  /// Called in the caller's process with the pid of the sandbox's init process, before the program may run,
  /// so that it can be noted. An error ends the sandbox and is returned by Start.
  std::function<Status(pid_t init)> on_init;
};

/// A tree of processes that ends as a whole: a small init process with the program as its child. When the
/// program ends, or the init process's supervisor ends, everything in it is killed. If supervisor and init
/// process are both killed, the kernel ends the processes of a PID namespace, a moment after it has closed
/// the init process's files; without a PID namespace the other processes live on, and only the plan's cgroups
/// tell which they are (KillGroup). One thread. The destructor kills it.
class Sandbox {
 public:
  /// How the program ended, in the form of waitpid.
  struct Outcome {
    std::optional<int> wait_status;  ///< empty if everything was killed before it could be reported
  };

  /// Returns once the program runs (exec succeeded). kPermissionDenied: the kernel rejects this isolation
  /// (the message says which step); a shortage (patience.h): the kernel lacks resources for it, or for the
  /// program, now; kFailedPrecondition: the program cannot be run (the message says why). Other errors do not
  /// mean that the machine cannot do it. The plan may be tried again.
  [[nodiscard]] static Result<Sandbox> Start(const SandboxPlan& plan);
  Sandbox(Sandbox&&) noexcept = default;
  Sandbox& operator=(Sandbox&&) = delete;
  ~Sandbox();

  /// The errno for which the plan's connect_doors do not work; 0: they work.
  [[nodiscard]] int doors_error() const noexcept { return doors_error_; }
  /// The errno for which the plan's directory cannot be written; 0: it can be.
  [[nodiscard]] int writable_error() const noexcept { return writable_error_; }
  /// Whether the program was forked from the plan's warm interpreter.
  [[nodiscard]] bool is_warm() const noexcept { return is_warm_; }

  /// Sends the plan's stop signal (SIGTERM) to the program's process group.
  void Terminate() noexcept;
  /// Sends SIGKILL to everything.
  void Kill() noexcept;

  /// Readable when everything has ended.
  [[nodiscard]] int pidfd() const noexcept { return pidfd_.get(); }
  /// Reaps the sandbox. Call it when pidfd() is readable.
  [[nodiscard]] Outcome Reap();

 private:
  Sandbox(Isolation isolation, UniqueFd pidfd, UniqueFd control)
      : isolation_(isolation), pidfd_(std::move(pidfd)), control_(std::move(control)) {}

  Isolation isolation_;
  int doors_error_ = 0;
  int writable_error_ = 0;
  bool is_warm_ = false;
  UniqueFd pidfd_;
  UniqueFd control_;
};

}  // namespace trainyard::replica
