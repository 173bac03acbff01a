#pragma once

#include <poll.h>

#include <chrono>
#include <functional>

namespace trainyard::replica {

using SteadyTime = std::chrono::steady_clock::time_point;

/// A descriptor or time that the supervisor's loop waits for. The loop requests a new list in each round.
struct Watch {
  int fd = -1;  ///< -1: none
  short events = POLLIN;
  SteadyTime deadline = SteadyTime::max();  ///< when `step` must be called even without an event
  std::function<void(short ready, SteadyTime now)> on_ready{};
  std::function<void(SteadyTime now)> step{};  ///< called in every round; null: its owner calls it
};

}  // namespace trainyard::replica
