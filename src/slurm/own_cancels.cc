#include "slurm/own_cancels.h"

#include <utility>

namespace trainyard::slurm {

void OwnCancels::Note(std::span<const std::int64_t> ids, SysTime now) {
  if (since_ + kKept < now) {
    before_ = std::exchange(noted_, {});
    since_ = now;
  }
  noted_.insert(ids.begin(), ids.end());
}

std::vector<ListedJob> OwnCancels::Apart(const std::vector<const ListedJob*>& jobs) const {
  std::vector<ListedJob> apart;
  for (const ListedJob* job : jobs) {
    ListedJob& seen = apart.emplace_back(*job);
    const bool is_ours = noted_.contains(seen.id) || before_.contains(seen.id);
    if (seen.state == JobState::kCancelled && is_ours) seen.state = JobState::kOver;
  }
  return apart;
}

}  // namespace trainyard::slurm
