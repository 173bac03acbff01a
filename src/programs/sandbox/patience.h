#pragma once

#include <chrono>
#include <thread>

#include "base/result.h"

namespace trainyard::replica {

/// How often a step is tried if it fails for a shortage, and the pause before the second try, which then
/// doubles each time: 1.5 s in total.
inline constexpr int kShortageTries = 5;
inline constexpr std::chrono::milliseconds kShortagePause{100};

/// A shortage of processes, memory, descriptors or disk, which may pass; anything else will not.
[[nodiscard]] inline bool IsShortage(const Error& error) {
  return error.code == Code::kUnavailable || error.code == Code::kResourceExhausted;
}

/// Repeats the step while it fails for a shortage, and returns its last result. Blocks between the tries.
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
