#pragma once

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

}  // namespace trainyard::keeper
