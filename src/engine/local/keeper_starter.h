#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/async/guarded.h"
#include "base/async/unique_fd.h"
#include "base/process/child_process.h"
#include "base/result.h"
#include "engine/local/machine_limits.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/sandbox/cgroups/cgroup.h"

namespace trainyard::engine {

struct SupervisorStart {
  std::string name;     ///< unique among the attempts of all installations on this machine
  std::string program;  ///< absolute path
  std::vector<std::string> argv;
  replica::AttemptDir dir;
  int lock;          ///< descriptor of the attempt's lock, already taken; the supervisor inherits it
  int secrets = -1;  ///< descriptor of its standard input (programs/attempt/attempt_dir.h); -1: none
};

/// Starts supervisors, each in a separate session. A supervisor writes its messages into the attempt's
/// directory and inherits none of our open files but the lock. Blocking; any thread. Implementations:
/// ForkingStarter (children of a process of our own), KeeperStarter (the keeper's, docs/adr/0042). What they
/// start lives on when the server ends.
class SupervisorStarter {
 public:
  SupervisorStarter() = default;
  SupervisorStarter(const SupervisorStarter&) = delete;
  SupervisorStarter& operator=(const SupervisorStarter&) = delete;
  virtual ~SupervisorStarter() = default;

  /// The place in which supervisors create the cgroups of their programs. Called before each start, before
  /// anything of the attempt exists: kUnavailable says that nothing can be started now, and why.
  [[nodiscard]] virtual Result<replica::CgroupHome> FindHome() = 0;

  /// The limits that can be set for replicas, as far as they are known; if `limits` is empty, they are not
  /// known yet.
  [[nodiscard]] virtual MachineLimits limits() const = 0;

  /// Returns once the supervisor's process exists and the lock is signed for it. The result is its pidfd,
  /// which is readable once it has ended. After kUnavailable it may have been started all the same: the
  /// attempt's lock tells.
  [[nodiscard]] virtual Result<UniqueFd> Start(const SupervisorStart& start) = 0;
};

/// Starts supervisors by a process of our own, `trainyard starter` (replica/keeper/starter.h), which ends
/// with us: for `trainyard serve` started by hand, and for agents. If it was killed, the next start begins
/// another one. docs/adr/0092-supervisors-are-forked.md.
class ForkingStarter final : public SupervisorStarter {
 public:
  /// Begins the process, in the cgroup in which supervisors are to be.
  /// `limits`: those that this process found when it began.
  explicit ForkingStarter(MachineLimits limits);

  [[nodiscard]] Result<replica::CgroupHome> FindHome() override {
    return replica::CgroupHome{.version = limits_.cgroup_version, .group = limits_.cgroup};
  }
  [[nodiscard]] MachineLimits limits() const override { return limits_; }
  [[nodiscard]] Result<UniqueFd> Start(const SupervisorStart& start) override;

 private:
  struct Process {
    UniqueFd socket;
    ChildProcess child;
  };
  [[nodiscard]] static Result<Process> Begin();

  const MachineLimits limits_;
  Guarded<Result<Process>> process_;
};

/// The limits that the keeper at that socket can set for replicas. kUnavailable: it does not answer. Blocks
/// for at most kKeeperAnswerMax.
[[nodiscard]] Result<MachineLimits> LimitsOfKeeper(const std::string& socket,
                                                   const std::string& attempts_dir);

/// How long to wait for a keeper's answer. It handles one request at a time, each in milliseconds.
inline constexpr std::chrono::seconds kKeeperAnswerMax{10};

/// The path of the file that this process runs, for processes that cannot use our /proc/self/exe. Call it at
/// the start, since an upgrade replaces the file.
[[nodiscard]] std::string OwnProgram();

/// Starts supervisors through the keeper, `trainyard serve --keeper`. It never forks one itself: while the
/// keeper does not answer, nothing starts. docs/adr/0042-the-keeper.md.
class KeeperStarter final : public SupervisorStarter {
 public:
  /// Decides whether replicas may run with these limits; the error is the reason shown for waiting jobs.
  /// Called, from any thread, for each new keeper.
  using Check = std::function<Status(const MachineLimits&)>;

  /// `known`: the limits when the server began, which it then reported.
  KeeperStarter(std::string socket, std::string attempts_dir, MachineLimits known, Check check);

  [[nodiscard]] Result<replica::CgroupHome> FindHome() override;
  [[nodiscard]] MachineLimits limits() const override;
  [[nodiscard]] Result<UniqueFd> Start(const SupervisorStart& start) override;

 private:
  struct KeeperState {
    std::uint64_t instance = 0;  ///< identifies the keeper whose limits these are; 0: none yet
    MachineLimits limits;
    bool refuses = false;  ///< nothing could be started last time; reported once
  };
  void Note(const Result<MachineLimits>& found);
  [[nodiscard]] Result<MachineLimits> AskOnce();

  const std::string socket_;
  const std::string attempts_dir_;
  const Check check_;
  Guarded<KeeperState> keeper_;
};

}  // namespace trainyard::engine
