#pragma once

#include <chrono>
#include <cstdint>

namespace trainyard::http {

/// The minimum rate of a sender, on average over windows of time spent waiting for it. The time that the
/// reader needs does not count. Pure; one thread.
class RateFloor {
 public:
  using Duration = std::chrono::steady_clock::duration;

  /// `bytes_min`: per window. 0: any rate is accepted.
  RateFloor(std::uint64_t bytes_min, Duration window) : bytes_min_(bytes_min), window_(window) {}

  /// Records the bytes that arrived and how long the reader waited for them; false: too slow.
  [[nodiscard]] bool Came(std::uint64_t bytes, Duration waited) noexcept {
    bytes_ += bytes;
    waited_ += waited;
    if (waited_ < window_) return true;
    // After a longer wait more bytes are due.
    const bool enough = bytes_ >= bytes_min_ * static_cast<std::uint64_t>(waited_ / window_);
    bytes_ = 0;
    waited_ = {};
    return enough;
  }

 private:
  std::uint64_t bytes_min_;
  Duration window_;
  std::uint64_t bytes_ = 0;
  Duration waited_{};
};

}  // namespace trainyard::http
