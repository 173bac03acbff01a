#include "rules/slurm/own_cancels.h"

#include <utility>

namespace trainyard::slurm {

void OwnCancels::Note(std::span<const std::int64_t> ids, SysTime now) {
  if (since_ + kKept < now) {
    before_ = std::exchange(noted_, {});
    since_ = now;
  }
  noted_.insert(ids.begin(), ids.end());
}

void OwnCancels::TellApart(std::span<ListedJob> jobs) const {
  for (ListedJob& job : jobs) {
    if (job.state != JobState::kCancelled) continue;
    if (noted_.contains(job.id) || before_.contains(job.id)) job.state = JobState::kOver;
  }
}

}  // namespace trainyard::slurm
