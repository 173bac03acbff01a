#include "rules/slurm/reading.h"

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
    if (!IsCancelled(job.state)) continue;
    if (noted_.contains(job.id) || before_.contains(job.id)) job.state = JobState::kOver;
  }
}

std::optional<GangKey> ListReading::NextOwner() const {
  if (next_ == ours_.jobs.size()) return std::nullopt;
  return ours_.whose[next_].gang;
}

std::span<ListedJob> ListReading::Take(const Submission& present, Strangers& strangers) {
  const std::vector<Submission>& whose = ours_.whose;
  while (next_ < whose.size() && whose[next_] < present) TakeStranger(strangers);
  const std::size_t begin = next_;
  while (next_ < whose.size() && whose[next_] == present) ++next_;
  const std::span<ListedJob> found = std::span(ours_.jobs).subspan(begin, next_ - begin);
  while (NextOwner() == present.gang) TakeStranger(strangers);
  latest_ = present.gang;
  return found;
}

void ListReading::TakeRest(Strangers& strangers) {
  while (NextOwner()) TakeStranger(strangers);
}

void ListReading::TakeStranger(Strangers& strangers) {
  const ListedJob& job = ours_.jobs[next_++];
  if (!HasEnded(job.state)) strangers[job.name].push_back(job.id);
}

}  // namespace trainyard::slurm
