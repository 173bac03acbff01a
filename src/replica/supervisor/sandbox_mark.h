#pragma once

#include <string>

#include "base/async/unique_fd.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/sandbox/cgroups/cgroup.h"
#include "programs/sandbox/cgroups/kill_group.h"
#include "programs/sandbox/sandbox.h"

namespace trainyard::replica {

/// What ends a sandbox without a PID namespace as a whole. Outlives the sandbox: the destructor removes the
/// group, which works once nothing is in it.
struct EndGroup {
  FreezerGroup freezer;
  UniqueFd directory;  ///< of the group; empty: there is none
};

/// Has the sandbox that is planned noted in the attempt's directory (programs/attempt/init_note.h) before its
/// program may run. Where the plan's isolation has no PID namespace, its program also joins a group that can
/// be killed as a whole: the replica's own cgroup where it has one that can be (version 2), else one of the
/// freezer's. Where neither can be had, which is so for an ordinary user on version 1, the program's
/// processes are known by parentage alone: what is left when both the supervisor and the sandbox's init
/// process are killed at once is then found by nobody. The plan borrows what is returned, and the cgroup.
/// `preparing`: what is to run prepares the program.
[[nodiscard]] EndGroup Mark(const AttemptDir& dir, const std::string& attempt_id, const Cgroup& cgroup,
                            SandboxPlan& plan, bool preparing);

}  // namespace trainyard::replica
