#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/async/unique_fd.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/lines/log_writer.h"
#include "programs/runtimes/program.h"
#include "programs/sandbox/cgroups/cgroup.h"
#include "programs/sandbox/cgroups/kill_group.h"
#include "programs/sandbox/network/replica_network.h"
#include "programs/sandbox/sandbox.h"

namespace trainyard::replica {

/// What is needed to end a sandbox without a PID namespace as a whole. Outlives the sandbox: the destructor
/// removes the group, which only works once it is empty.
struct EndGroup {
  FreezerGroup freezer;
  UniqueFd directory;  ///< of the group; empty: there is none
};

/// Has the planned sandbox recorded in the attempt's directory (programs/attempt/init_note.h) before its
/// program may run. If the plan's isolation has no PID namespace, its program also joins a group that can be
/// killed as a whole: the replica's own cgroup if that is possible (version 2), otherwise one of the
/// freezer's. If neither is available, which is the case for an ordinary user on version 1, the program's
/// processes are known by parentage alone: if both the supervisor and the sandbox's init process are killed
/// at the same time, the rest cannot be found. The plan borrows what is returned, and the cgroup.
/// `preparing`: the sandbox prepares the program.
[[nodiscard]] EndGroup Mark(const AttemptDir& dir, const std::string& attempt_id, const Cgroup& cgroup,
                            SandboxPlan& plan, bool preparing);

/// Creates a cgroup for the attempt's processes, and records it in the attempt's directory for cleaning up
/// after a killed supervisor: one at a time. Otherwise as Cgroup::Create.
[[nodiscard]] Result<Cgroup> MakeReplicaCgroup(const v1::Manifest& manifest, const CgroupLimits& limits);

/// The user's program: isolated as well as this machine allows, its output in pipes. One thread. The
/// destructor kills it.
class UserProcess {
 public:
  /// Creates the replica's own directories; existing ones stay. Before Launch; may be called early, while
  /// waiting for something else.
  [[nodiscard]] static Status MakeFolders(const AttemptDir& dir);
  /// Returns once the program runs. Adds to `degraded` what this machine does not allow, one line for each
  /// item. kFailedPrecondition: the program cannot be run. A shortage (programs/sandbox/patience.h): try
  /// again later.
  [[nodiscard]] static Result<UserProcess> Launch(Program& program, const ProgramStart& start,
                                                  std::vector<std::string>& degraded);

  [[nodiscard]] int pidfd() const noexcept { return sandbox_.pidfd(); }
  /// -1 once the stream has ended.
  [[nodiscard]] int output_fd(OutputStream stream) const noexcept;
  /// Reads once. False at the stream's end; the descriptor is closed then. `bytes` may be empty.
  [[nodiscard]] bool ReadOutput(OutputStream stream, std::string& bytes);
  [[nodiscard]] bool output_ended() const noexcept;

  void Terminate() noexcept { sandbox_.Terminate(); }
  void Kill() noexcept { sandbox_.Kill(); }
  [[nodiscard]] bool is_warm() const noexcept { return sandbox_.is_warm(); }
  /// Call when pidfd() is readable: all processes have ended.
  [[nodiscard]] Sandbox::Outcome Reap() { return sandbox_.Reap(); }
  /// Begins to count out-of-memory kills, for a process without a memory limit (with one they are counted
  /// from the start). Later than the launch, because joining a cgroup takes the kernel 15 ms. An error says
  /// what this machine does not allow.
  [[nodiscard]] Status CountMemory(const v1::Manifest& manifest);
  [[nodiscard]] const Cgroup& cgroup() const noexcept { return cgroup_; }
  [[nodiscard]] bool has_network() const noexcept { return network_.has_value(); }

 private:
  UserProcess(Cgroup cgroup, EndGroup end_group, std::optional<ReplicaNetwork> network, Sandbox sandbox,
              std::array<UniqueFd, kStreamCount> outputs)
      : cgroup_(std::move(cgroup)),
        end_group_(std::move(end_group)),
        network_(std::move(network)),
        sandbox_(std::move(sandbox)),
        outputs_(std::move(outputs)) {}

  Cgroup cgroup_;                          // removed after the sandbox, and after the relay, which is in it
  EndGroup end_group_;                     // lives as long as the sandbox, which may use it
  std::optional<ReplicaNetwork> network_;  // absent: the machine's network
  Sandbox sandbox_;
  std::array<UniqueFd, kStreamCount> outputs_;
};

}  // namespace trainyard::replica
