#include "control/testing/fault_log.h"

#include <algorithm>

namespace trainyard::control {

void FaultLog::Begin(const Action& fault, SysTime now) {
  const bool lasts = fault.kind == Action::Kind::kLastingFault;
  if (lasts && IsInForce(fault.name)) return;
  faults_.push_back({.action = &fault, .begin = now, .end = lasts ? SysTime::max() : now});
}

void FaultLog::End(std::string_view name, SysTime now) {
  for (Fault& fault : faults_) {
    if (fault.action->name == name && fault.end == SysTime::max()) fault.end = now;
  }
}

bool FaultLog::IsInForce(std::string_view name) const {
  return std::ranges::any_of(faults_, [name](const Fault& fault) {
    return fault.action->name == name && fault.end == SysTime::max();
  });
}

}  // namespace trainyard::control
