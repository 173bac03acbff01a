#include "engine/slurm/slurm_cancels.h"

#include <tuple>
#include <utility>
#include <vector>

#include "base/async/on_pool.h"

namespace trainyard::engine {

void SlurmCancels::Add(const slurm::CancelJobs& jobs) {
  waiting_[jobs.name].insert(jobs.ids.begin(), jobs.ids.end());
  if (tasks_.size() < kAtOnceMax) tasks_.Spawn(Work());
}

/// Takes the names in turn, so that a later name does not wait for an earlier one that is added again with
/// each list.
boost::asio::awaitable<void> SlurmCancels::Work() {
  while (!waiting_.empty()) {
    auto next = waiting_.upper_bound(latest_);
    if (next == waiting_.end()) next = waiting_.begin();
    latest_ = next->first;
    auto cancel = [&client = client_, name = next->first,
                   ids = std::vector(next->second.begin(), next->second.end())] {
      return client.Cancel(name, ids);
    };
    waiting_.erase(next);
    std::ignore = co_await OnPool(pool_, std::move(cancel));
  }
}

}  // namespace trainyard::engine
