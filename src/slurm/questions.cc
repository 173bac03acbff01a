#include "slurm/questions.h"

namespace trainyard::slurm {

std::optional<SysTime> Questions::ListAt(bool waiting) const {
  if (under_way_) return std::nullopt;
  if (!asked_) return SysTime();
  return *asked_ + (soon_ ? kListPauseMin : waiting ? kListPause : kQuietPause);
}

bool Questions::TakeList(bool waiting, SysTime now) {
  const std::optional<SysTime> at = ListAt(waiting);
  if (!at || *at > now) return false;
  under_way_ = true;
  soon_ = false;
  asked_ = now;
  return true;
}

}  // namespace trainyard::slurm
