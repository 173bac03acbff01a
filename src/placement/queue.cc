#include "placement/queue.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "placement/gang.h"

namespace trainyard::placement {
namespace {

bool ComesFirst(const Gang* a, const Gang* b) {
  return std::tuple(-a->priority, a->create_time, a->uid) < std::tuple(-b->priority, b->create_time, b->uid);
}

/// The gang's place, or the place where it would be inserted.
std::vector<const Gang*>::const_iterator Place(const std::vector<const Gang*>& order, const Gang& gang) {
  return std::ranges::lower_bound(order, &gang, ComesFirst);
}

}  // namespace

void Queue::Add(Gang gang) {
  const std::int64_t uid = gang.uid;
  const auto [added, is_new] = gangs_.emplace(uid, std::move(gang));
  TY_CHECK(is_new);
  const Gang& kept = added->second;
  order_.insert(Place(order_, kept), &kept);
  Order& line = lines_[kept.line];
  line.insert(Place(line, kept), &kept);
}

std::optional<Gang> Queue::Take(std::int64_t uid) {
  const auto found = gangs_.find(uid);
  if (found == gangs_.end()) return std::nullopt;
  order_.erase(Place(order_, found->second));
  const auto line = lines_.find(found->second.line);
  line->second.erase(Place(line->second, found->second));
  if (line->second.empty()) lines_.erase(line);
  Gang gang = std::move(found->second);
  gangs_.erase(found);
  return gang;
}

const Gang* Queue::Find(std::int64_t uid) const {
  const auto found = gangs_.find(uid);
  return found == gangs_.end() ? nullptr : &found->second;
}

std::int64_t Queue::PositionOf(const Gang& gang) const {
  const Order& line = lines_.at(gang.line);
  return Place(line, gang) - line.begin() + 1;
}

Wait Queue::TurnOf(const Gang& gang, std::string_view blocker) const {
  const std::int64_t position = PositionOf(gang);
  Wait wait{.position = position, .reason = {}, .unblock = {}, .is_turn = true};
  if (position > 1) {
    const std::string& first = lines_.at(gang.line).front()->job_id;
    wait.reason =
        "Waiting for its turn: " + Counted(position - 1, "job") + " before it, " + first + " is next.";
    wait.unblock = "It moves up when " + first + " starts or is cancelled.";
  } else {
    wait.reason = "Waiting for its turn: " + std::string(blocker) + " is before it.";
    wait.unblock = "It is next when " + std::string(blocker) + " has started or is cancelled.";
  }
  return wait;
}

}  // namespace trainyard::placement
