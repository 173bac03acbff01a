#pragma once

#include <chrono>
#include <thread>

#include "base/result.h"

namespace trainyard::replica {

/// How often a step that a shortage refused is tried, and how long before the second time; then twice as
/// long each time: 1.5 s together.
inline constexpr int kShortageTries = 5;
inline constexpr std::chrono::milliseconds kShortagePause{100};

/// A shortage of processes, memory, descriptors or disk, which may pass; anything else will not.
[[nodiscard]] inline bool IsShortage(const Error& error) {
  return error.code == Code::kUnavailable || error.code == Code::kResourceExhausted;
}

/// What the step returned the last time that it was tried. Blocks between the tries.
template <class Step>
[[nodiscard]] auto Patiently(const Step& step) {
  std::chrono::milliseconds pause = kShortagePause;
  for (int tries = 1;; ++tries, pause *= 2) {
    auto done = step();
    if (done || !IsShortage(done.error()) || tries == kShortageTries) return done;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace trainyard::replica
