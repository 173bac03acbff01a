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
#include "replica/keeper/unit_groups.h"

namespace trainyard::keeper {

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
