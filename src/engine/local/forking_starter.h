#pragma once

#include <utility>

#include "engine/local/supervisor_starter.h"

namespace trainyard::engine {

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
