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

/// The keeper's own place in its unit.
inline constexpr const char* kOwnLeaf = "keeper";

/// Groups (cgroup version 2) for what the keeper starts, beside its own leaf in the group of a unit that is
/// delegated to it (Delegate=yes): GROUP/keeper, GROUP/supervisor-NAME. Elsewhere there are none, and cgroups
/// stay as they are. What an earlier keeper started is found again by its group. One thread.
/// Source: systemd.io/CGROUP_DELEGATION, cgroups(7).
class UnitGroups {
 public:
  /// Looks where this process is; in a delegated group it moves to its leaf.
  [[nodiscard]] static UnitGroups Find();

  [[nodiscard]] bool exist() const noexcept { return !base_.empty(); }

  /// What can be limited here, tried out; the installation's group is made.
  [[nodiscard]] LimitsAnswer Limits(const std::string& installation) const;

  /// Makes the group of that name; its directory. Empty: there are none here. kAlreadyExists: something lives
  /// in it.
  [[nodiscard]] Result<UniqueFd> Make(const std::string& name) const;
  /// True once it is gone: nothing lives in it any more.
  bool Remove(const std::string& name) const noexcept;

  /// What lives in groups that an earlier keeper made.
  struct Found {
    std::string name;
    pid_t pid = 0;  ///< of the supervisor: the process whose parent is not in the group
    UniqueFd pidfd;
  };
  [[nodiscard]] std::vector<Found> FindLiving() const;

  /// SIGKILL to all in the unit but the keeper, replicas too; returns when nothing is left.
  [[nodiscard]] Status KillAll(std::chrono::milliseconds wait_max) const;

 private:
  [[nodiscard]] std::string PathOf(std::string_view name) const;

  std::string base_;  ///< the unit's; empty: not delegated
};

/// The program at that absolute path, to be executed by its descriptor: what was looked at is what runs.
/// kPermissionDenied: it is no file of root or of this account, or others can write to it.
[[nodiscard]] Result<UniqueFd> OpenProgram(const std::string& path);

/// The supervisors of this keeper, and those of an earlier one that its groups tell of. One thread.
class SupervisorList {
 public:
  explicit SupervisorList(UnitGroups groups);

  struct New {
    pid_t pid;
    int pidfd;  ///< the list's
  };
  /// Starts one, with the descriptors under its numbers and nothing else of ours. Returns once the program
  /// runs. kAlreadyExists: one of that name is alive; kInvalidArgument: the request makes no sense.
  [[nodiscard]] Result<New> Start(const StartRequest& request, const std::vector<UniqueFd>& descriptors);

  [[nodiscard]] bool empty() const noexcept { return alive_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return alive_.size(); }
  /// Adds a descriptor for each that becomes readable when it ends.
  void AddTo(std::vector<pollfd>& waited) const;
  /// Reaps those that have ended, and removes their groups.
  void Reap();
  /// SIGTERM to each: it ends its replica with grace, and hands over.
  void Terminate() const;
  /// SIGKILL to each, and to all in their groups; returns when they are gone.
  [[nodiscard]] Status Kill(std::chrono::milliseconds wait_max);

  [[nodiscard]] const UnitGroups& groups() const noexcept { return groups_; }

 private:
  struct Supervisor {
    std::string name;
    pid_t pid;
    UniqueFd pidfd;
  };
  void Signal(int signal) const;

  UnitGroups groups_;
  std::vector<Supervisor> alive_;
  std::vector<std::string> left_;  ///< names of groups in which something of an ended one still lives
};

}  // namespace trainyard::keeper
