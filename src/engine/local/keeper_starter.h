#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "base/async/guarded.h"
#include "engine/local/machine_limits.h"
#include "engine/local/supervisor_starter.h"

namespace trainyard::engine {

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
  struct Met {
    std::uint64_t instance = 0;  ///< identifies the keeper whose limits these are; 0: none yet
    MachineLimits limits;
    bool refuses = false;  ///< nothing could be started last time; reported once
  };
  void Note(const Result<MachineLimits>& found);
  [[nodiscard]] Result<MachineLimits> AskOnce();

  const std::string socket_;
  const std::string attempts_dir_;
  const Check check_;
  Guarded<Met> met_;
};

}  // namespace trainyard::engine
