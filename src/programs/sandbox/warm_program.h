#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "programs/sandbox/sandbox_init.h"

namespace trainyard::replica {

/// A program that is forked from a warm interpreter (interpreters/trainyard_warm.py) instead of being
/// executed, for the sandbox's init process.
struct WarmProgram {
  const SandboxPlan& plan;
  const InitStart& start;
  int mother;    ///< a connection to the interpreter
  int last_pid;  ///< /proc/sys/kernel/ns_last_pid
  /// By name: what the program's process gets or enters, in addition to the init process's namespaces.
  std::vector<std::pair<std::string, int>> descriptors;
  bool limits_user;  ///< whether the plan's number of processes is set as the user's limit
};

/// Makes the program in the calling init process's namespaces, as its child, in the state that it would have
/// after exec. Returns its pid when it goes on to its first line; -1: it was not made, no process of it will
/// run any code of the program, and the caller executes the program. Only in a PID namespace in which nothing
/// else runs. Blocks for at most a few seconds.
[[nodiscard]] pid_t StartWarm(const WarmProgram& program);

}  // namespace trainyard::replica
