#include "engine/agent/end_plan.h"

#include <algorithm>

namespace trainyard::agent {

EndPlan PlanEnd(EndCause cause, SysTime now, std::optional<SysTime> until, const std::string& reason) {
  const SysTime limit = until.value_or(SysTime::max());
  switch (cause) {
    case EndCause::kSignal: return {.reason = "the cluster ends the slot", .deadline = now + kSignalWaitMax};
    case EndCause::kTimeLimit:
      return {.is_time_limit = true, .reason = "the cluster's time limit is reached", .deadline = limit};
    case EndCause::kRelease: break;
  }
  return {.is_told = false,
          .reason = reason.empty() ? "the server gives the slot back" : reason,
          .deadline = limit};
}

EndPlan Combine(const EndPlan& first, const EndPlan& second) {
  EndPlan both = first;
  both.deadline = std::min(first.deadline, second.deadline);
  return both;
}

}  // namespace trainyard::agent
