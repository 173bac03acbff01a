#pragma once

#include <chrono>
#include <cstddef>

namespace trainyard::logs {

/// The pause after a round, for each of the tails: about what it costs to send a batch to one.
inline constexpr std::chrono::microseconds kPauseShare{25};

/// When the tails that wait for the same lines are served: together, in rounds, so that they stay at the same
/// place and share one reading. The pause after a round leaves half of the loop's time to others. Pure.
class TailRounds {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// There are lines for a tail.
  void Want() noexcept { wanted_ = true; }
  /// Whether a round can begin after the pause: one is wanted, and none is under way.
  [[nodiscard]] bool due() const noexcept { return wanted_ && left_ == 0; }
  /// The end of the pause.
  [[nodiscard]] Time pause_end() const noexcept { return pause_end_; }

  /// A round begins for so many tails of the crowd. The others still send: the pause is for all, so that the
  /// next round finds them waiting.
  void Begin(std::size_t tails, std::size_t crowd) noexcept {
    wanted_ = false;
    left_ = tails;
    crowd_ = crowd;
  }
  /// One of them was served, or has left.
  void Leave(Time now) noexcept {
    if (--left_ == 0) pause_end_ = now + kPauseShare * crowd_;
  }

 private:
  bool wanted_ = false;
  std::size_t crowd_ = 0;
  std::size_t left_ = 0;  ///< tails that the present round has yet to serve
  Time pause_end_{};
};

}  // namespace trainyard::logs
