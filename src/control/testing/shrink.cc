#include "control/testing/shrink.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace trainyard::control {
namespace {

using Fails = std::function<bool(const Schedule&)>;

Schedule Without(const Schedule& schedule, std::size_t first, std::size_t count) {
  Schedule less = schedule;
  const auto begin = less.actions.begin() + static_cast<std::ptrdiff_t>(first);
  less.actions.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
  return less;
}

/// The next action waits for the steps of the one that goes, too.
Schedule WithoutButItsSteps(const Schedule& schedule, std::size_t place) {
  Schedule less = Without(schedule, place, 1);
  if (place < less.actions.size()) less.actions[place].steps += schedule.actions[place].steps;
  return less;
}

/// Leaves out pieces of that many actions. Returns whether one could go.
bool DropPieces(Schedule& schedule, std::size_t size, const Fails& fails) {
  bool dropped = false;
  for (std::size_t first = 0; first < schedule.actions.size();) {
    const std::size_t count = std::min(size, schedule.actions.size() - first);
    Schedule less = Without(schedule, first, count);
    bool may_go = fails(less);
    if (!may_go && count == 1) {
      less = WithoutButItsSteps(schedule, first);
      may_go = fails(less);
    }
    if (may_go) {
      schedule = std::move(less);
      dropped = true;
    } else {
      first += count;
    }
  }
  return dropped;
}

bool DropActions(Schedule& schedule, const Fails& fails) {
  bool dropped = false;
  for (std::size_t size = std::max<std::size_t>(schedule.actions.size() / 2, 1); size > 0; size /= 2)
    dropped |= DropPieces(schedule, size, fails);
  return dropped;
}

/// No steps before an action, or half of them.
bool DropSteps(Schedule& schedule, const Fails& fails) {
  bool dropped = false;
  for (std::size_t i = 0; i < schedule.actions.size(); ++i) {
    for (int steps = 0; steps < schedule.actions[i].steps;) {
      Schedule less = schedule;
      less.actions[i].steps = steps;
      if (fails(less)) {
        schedule = std::move(less);
        dropped = true;
        break;
      }
      steps = steps == 0 ? std::max(schedule.actions[i].steps / 2, 1) : schedule.actions[i].steps;
    }
  }
  return dropped;
}

}  // namespace

Schedule Shrink(Schedule failing, const Fails& fails) {
  for (bool shrinks = true; shrinks;) {
    shrinks = DropActions(failing, fails);
    shrinks |= DropSteps(failing, fails);
  }
  return failing;
}

}  // namespace trainyard::control
