#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "engine/local/machine_limits.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/sandbox/cgroups/cgroup.h"

namespace trainyard::engine {

struct SupervisorStart {
  std::string name;     ///< of all installations of this machine no other attempt has it
  std::string program;  ///< absolute path
  std::vector<std::string> argv;
  replica::AttemptDir dir;
  int lock;          ///< the attempt's, taken; the supervisor gets it
  int secrets = -1;  ///< its standard input (programs/attempt/secret_values.h); -1: none
};

/// Starts supervisors, each in a session of its own, with its messages in the attempt's folder and nothing
/// open of ours but the lock. Blocking; any thread. Implementations: ForkingStarter (the server's own
/// children), KeeperStarter (the keeper's, docs/adr/0042). What they start lives on when the server ends.
class SupervisorStarter {
 public:
  SupervisorStarter() = default;
  SupervisorStarter(const SupervisorStarter&) = delete;
  SupervisorStarter& operator=(const SupervisorStarter&) = delete;
  virtual ~SupervisorStarter() = default;

  /// Where supervisors make the groups of their programs. Asked before each start: kUnavailable says that
  /// nothing can be started now, and why, while nothing of the attempt is there yet.
  [[nodiscard]] virtual Result<replica::CgroupHome> FindHome() = 0;

  /// What replicas can be bounded by, as far as it is known; without any `limits`: not yet.
  [[nodiscard]] virtual MachineLimits limits() const = 0;

  /// Returns once the supervisor's process exists and the lock is signed for it: its pidfd, readable once it
  /// has ended. It may be a child of this process, to be reaped, or not. After kUnavailable it may have been
  /// started all the same: the attempt's lock tells.
  [[nodiscard]] virtual Result<UniqueFd> Start(const SupervisorStart& start) = 0;
};

/// What of a start is the same for all: the descriptors by their numbers in the supervisor, and what of this
/// process's variables it gets (what a service manager says to one process is not for others).
struct SupervisorStreams {
  UniqueFd log;
  std::vector<std::pair<int, int>> descriptors;  ///< (ours, its number)
};
[[nodiscard]] Result<SupervisorStreams> OpenStreams(const SupervisorStart& start);
[[nodiscard]] std::vector<std::string> SupervisorVariables();

/// Supervisors as children of this process: `trainyard serve` by hand.
class ForkingStarter final : public SupervisorStarter {
 public:
  /// `limits`: what this process found when it began.
  explicit ForkingStarter(MachineLimits limits) : limits_(std::move(limits)) {}

  [[nodiscard]] Result<replica::CgroupHome> FindHome() override {
    return replica::CgroupHome{.version = limits_.cgroup_version, .group = limits_.cgroup};
  }
  [[nodiscard]] MachineLimits limits() const override { return limits_; }
  [[nodiscard]] Result<UniqueFd> Start(const SupervisorStart& start) override;

 private:
  const MachineLimits limits_;
};

}  // namespace trainyard::engine
