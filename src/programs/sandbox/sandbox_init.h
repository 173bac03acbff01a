#pragma once

#include "programs/sandbox/sandbox.h"

namespace trainyard::replica {

/// What the init process tells its supervisor.
struct InitReport {
  enum class Kind : int {
    kIsolationFailed,  ///< value: errno
    kProgramFailed,    ///< value: errno; the program cannot be run
    kRunning,          ///< value: errno for which its doors do not work; 0: they work
    kEnded,            ///< value: the program's wait status
  };
  Kind kind = Kind::kRunning;
  int value = 0;
  int writable_error = 0;  ///< kRunning: errno for which the plan's directory cannot be written
  bool is_warm = false;    ///< kRunning: it was forked from the plan's warm interpreter
  char step[48] = {};      ///< what failed
};

/// What the supervisor tells the init process: one byte.
inline constexpr char kTerminateOrder = 'T';
inline constexpr char kMappedOrder = 'M';  ///< the ids of its user namespace are mapped
inline constexpr char kStartOrder = 'S';   ///< the program may run

/// The parameters of the init process.
struct InitStart {
  int control;  ///< socket to the supervisor
  char* const* argv;
  char* const* environment;
  uid_t uid;  ///< our user's, which the program keeps in a user namespace
  gid_t gid;
  uid_t uid_outside;  ///< the same id in the parent user namespace
  gid_t gid_outside;
};
/// The init process: sets up the isolation, starts the program, reaps, and ends everything when the program
/// has ended or the supervisor has ended. Call it in the process that was cloned with the isolation's flags.
/// Never returns.
[[noreturn]] void RunInit(const SandboxPlan& plan, const InitStart& start);

[[nodiscard]] bool HasPidNamespace(Isolation isolation) noexcept;
[[nodiscard]] bool HasUserNamespace(Isolation isolation) noexcept;
/// clone(2) flags of an isolation's namespaces.
[[nodiscard]] unsigned long IsolationFlags(Isolation isolation) noexcept;

}  // namespace trainyard::replica
