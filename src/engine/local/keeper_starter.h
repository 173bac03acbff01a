#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "base/async/guarded.h"
#include "engine/local/machine_limits.h"
#include "engine/local/supervisor_starter.h"

namespace trainyard::engine {

/// What the keeper at that socket can bound replicas by. kUnavailable: it does not answer. Blocking, at most
/// kKeeperAnswerMax.
[[nodiscard]] Result<MachineLimits> LimitsOfKeeper(const std::string& socket,
                                                   const std::string& attempts_dir);

/// The longest that a keeper may take for an answer: it does one thing at a time, and each in milliseconds.
inline constexpr std::chrono::seconds kKeeperAnswerMax{10};

/// The file that this process runs, for who cannot use our /proc/self/exe. Ask at the start: an upgrade
/// replaces it.
[[nodiscard]] std::string OwnProgram();

/// Supervisors by the keeper: `trainyard serve --keeper`. Never forks one itself: while the keeper does not
/// answer, nothing starts. docs/adr/0042-the-keeper.md.
class KeeperStarter final : public SupervisorStarter {
 public:
  /// Whether replicas may run where so much can be bounded: the reason why not, for the job that waits.
  /// Called, from any thread, for each keeper that is met.
  using Check = std::function<Status(const MachineLimits&)>;

  /// `known`: as it was when the server began, said then.
  KeeperStarter(std::string socket, std::string attempts_dir, MachineLimits known, Check check);

  [[nodiscard]] Result<replica::CgroupHome> FindHome() override;
  [[nodiscard]] MachineLimits limits() const override;
  [[nodiscard]] Result<UniqueFd> Start(const SupervisorStart& start) override;

 private:
  struct Met {
    std::uint64_t instance = 0;  ///< of the keeper whose limits these are; 0: none yet
    MachineLimits limits;
    bool refuses = false;  ///< nothing could be started last time; said once
  };
  void Note(const Result<MachineLimits>& found);
  [[nodiscard]] Result<MachineLimits> AskOnce();

  const std::string socket_;
  const std::string attempts_dir_;
  const Check check_;
  Guarded<Met> met_;
};

}  // namespace trainyard::engine
