#pragma once

#include <string_view>
#include <vector>

#include "base/clock.h"
#include "control/testing/schedule.h"

namespace trainyard::control {

/// Which faults happened in a schedule, and when. Times are those of SimulatedTime::TrueNow.
class FaultLog {
 public:
  struct Fault {
    const Action* action;
    SysTime begin;
    SysTime end;  ///< as `begin`, unless it lasted; SysTime::max(): it is in force
  };

  /// A lasting fault that is in force does not begin again.
  void Begin(const Action& fault, SysTime now);
  /// The lasting fault of that name is over, if it was in force.
  void End(std::string_view name, SysTime now);
  [[nodiscard]] bool IsInForce(std::string_view name) const;
  [[nodiscard]] const std::vector<Fault>& all() const noexcept { return faults_; }

 private:
  std::vector<Fault> faults_;
};

}  // namespace trainyard::control
