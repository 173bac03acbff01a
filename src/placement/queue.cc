#include "placement/queue.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "placement/counted.h"

namespace trainyard::placement {
namespace {

bool ComesFirst(const Gang* a, const Gang* b) {
  return std::tuple(-a->priority, a->create_time, a->uid) < std::tuple(-b->priority, b->create_time, b->uid);
}

}  // namespace

void Queue::Add(Gang gang) {
  const std::int64_t uid = gang.uid;
  const auto [added, is_new] = gangs_.emplace(uid, std::move(gang));
  TY_CHECK(is_new);
  order_.insert(Find(added->second), &added->second);
}

std::optional<Gang> Queue::Take(std::int64_t uid) {
  const auto found = gangs_.find(uid);
  if (found == gangs_.end()) return std::nullopt;
  order_.erase(Find(found->second));
  Gang gang = std::move(found->second);
  gangs_.erase(found);
  return gang;
}

std::optional<Wait> Queue::WaitOf(std::int64_t uid, std::string_view shortage) const {
  const auto found = gangs_.find(uid);
  if (found == gangs_.end()) return std::nullopt;
  const auto before = Find(found->second) - order_.begin();
  if (before == 0) return Wait{.position = 1, .reason = std::string(shortage)};
  return Wait{.position = before + 1,
              .reason = "Waiting for its turn: " + Counted(before, "job") + " before it, " +
                        order_.front()->job_id + " is next."};
}

/// Its place, or where it would come.
std::vector<const Gang*>::const_iterator Queue::Find(const Gang& gang) const {
  return std::ranges::lower_bound(order_, &gang, ComesFirst);
}

}  // namespace trainyard::placement
