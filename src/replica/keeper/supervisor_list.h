#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "replica/keeper/keeper_message.h"

namespace trainyard::keeper {

/// The name of the keeper's own cgroup in its unit.
inline constexpr const char* kOwnLeaf = "keeper";

/// Groups (cgroup version 2) for what the keeper starts, in the group of a unit that is delegated to it
/// (Delegate=yes): GROUP/keeper for itself, GROUP/supervisor-NAME for each. Without a delegated group there
/// are none, and cgroups are not changed. Supervisors started by an earlier keeper are found by their groups.
/// One thread. Source: systemd.io/CGROUP_DELEGATION, cgroups(7).
class UnitGroups {
 public:
  /// Finds the group of this process; if that is delegated, the process moves to its own subgroup.
  [[nodiscard]] static UnitGroups Find();

  [[nodiscard]] bool exist() const noexcept { return !base_.empty(); }

  /// Which limits work here, found out by trying; also creates the installation's group.
  [[nodiscard]] LimitsAnswer Limits(const std::string& installation) const;

  /// Creates the group of that name and returns its directory. Empty: there are no groups here.
  /// kAlreadyExists: it contains running processes.
  [[nodiscard]] Result<UniqueFd> Make(const std::string& name) const;
  /// True once it is removed: it contains no processes any more.
  bool Remove(const std::string& name) const noexcept;

  /// The supervisors that run in groups of an earlier keeper.
  struct LivingSupervisor {
    std::string name;
    pid_t pid = 0;  ///< the supervisor: the process whose parent is not in the group
    UniqueFd pidfd;
  };
  [[nodiscard]] std::vector<LivingSupervisor> FindLiving() const;

  /// Sends SIGKILL to all in the unit except the keeper, including replicas; returns when none is left.
  [[nodiscard]] Status KillAll(std::chrono::milliseconds wait_max) const;

 private:
  [[nodiscard]] std::string PathOf(std::string_view name) const;

  std::string base_;  ///< the unit's group; empty: not delegated
};

/// The command `trainyard replica` of this program.
using SupervisorMain = int (*)(int argc, char** argv);

/// How supervisors are started.
struct SupervisorForm {
  /// A forked supervisor runs this function. A supervisor is forked if the request names the file of this
  /// process. It is executed if the function is null, or if the file is another one (after an upgrade).
  SupervisorMain main = nullptr;
  /// Whether our client is the process that started us: the program's file is not checked then, and the
  /// oom_score_adj stays. A keeper may be protected from the kernel's OOM killer: it sets it to 0.
  bool is_private = false;
};

/// Checks a program that was opened with O_PATH, and returns the descriptor to execute it by, so that exactly
/// the checked file runs. kPermissionDenied: it does not belong to root or this account, or others can write
/// to it.
[[nodiscard]] Result<UniqueFd> CheckProgram(const std::string& path, const UniqueFd& found);

/// The supervisors of this keeper, and those of an earlier one, found by its groups. One thread.
class SupervisorList {
 public:
  SupervisorList(UnitGroups groups, SupervisorForm form);

  struct New {
    pid_t pid;
    int pidfd;  ///< owned by the list
  };
  /// Starts a supervisor, which gets the given descriptors under their numbers and no others. Returns once
  /// the program runs. kAlreadyExists: one of that name is running; kInvalidArgument: the request is
  /// malformed.
  [[nodiscard]] Result<New> Start(const StartRequest& request, const std::vector<UniqueFd>& descriptors);

  [[nodiscard]] bool empty() const noexcept { return alive_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return alive_.size(); }
  /// Adds, for each supervisor, a descriptor that becomes readable when it ends.
  void AddTo(std::vector<pollfd>& waited) const;
  /// Reaps those that have ended, and removes their groups.
  void Reap();
  /// Sends SIGTERM to each: it stops its replica with grace, and passes its data to the server.
  void Terminate() const;
  /// Sends SIGKILL to each, and to all processes in their groups; returns when none is left.
  [[nodiscard]] Status Kill(std::chrono::milliseconds wait_max);

  [[nodiscard]] const UnitGroups& groups() const noexcept { return groups_; }

 private:
  struct Supervisor {
    std::string name;
    pid_t pid;
    UniqueFd pidfd;
  };
  void Signal(int signal) const;
  [[nodiscard]] bool IsOwnProgram(const UniqueFd& program) const;

  UnitGroups groups_;
  SupervisorForm form_;
  UniqueFd own_program_;
  std::vector<Supervisor> alive_;
  std::vector<std::string> left_;  ///< names of groups of ended supervisors that still contain processes
};

}  // namespace trainyard::keeper
