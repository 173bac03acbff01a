#include "slurm/own_cancels.h"

namespace trainyard::slurm {

void OwnCancels::Note(std::span<const std::int64_t> ids, SysTime now) {
  std::erase_if(noted_, [now](const auto& one) { return one.second + kKept < now; });
  for (const std::int64_t id : ids) noted_[id] = now;
}

std::vector<ListedJob> OwnCancels::Apart(const std::vector<const ListedJob*>& jobs) const {
  std::vector<ListedJob> apart;
  for (const ListedJob* job : jobs) {
    ListedJob& seen = apart.emplace_back(*job);
    if (seen.state == JobState::kCancelled && noted_.contains(seen.id)) seen.state = JobState::kOver;
  }
  return apart;
}

}  // namespace trainyard::slurm
