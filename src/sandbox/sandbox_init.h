#pragma once

#include "sandbox/sandbox.h"

namespace trainyard::replica {

/// What the init process tells its supervisor.
struct InitReport {
  enum class Kind : int {
    kFenceFailed,    ///< value: errno
    kProgramFailed,  ///< value: errno; the program cannot be run
    kRunning,
    kEnded,  ///< value: the program's wait status
  };
  Kind kind = Kind::kRunning;
  int value = 0;
  char step[48] = {};  ///< what failed
};

/// What the supervisor tells the init process: one byte.
inline constexpr char kTerminateOrder = 'T';
inline constexpr char kMappedOrder = 'M';  ///< the ids of its user namespace are there

/// The init process: sets the fence up, starts the program, reaps, and ends everything when the program has
/// ended or the supervisor is gone. Runs in the process that was cloned with the fence's flags. Never
/// returns.
struct InitStart {
  int control;  ///< socket to the supervisor
  char* const* argv;
  char* const* environment;
  uid_t uid;  ///< ours outside of the fence
  gid_t gid;
};
[[noreturn]] void RunInit(const SandboxPlan& plan, const InitStart& start);

[[nodiscard]] bool HasUserNamespace(Fence fence) noexcept;
/// clone(2) flags of a fence's namespaces.
[[nodiscard]] unsigned long FenceFlags(Fence fence) noexcept;

}  // namespace trainyard::replica
