#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace trainyard {

/// Finds out what blocks the loop: counts the turns (one handler, or one piece of a coroutine between two
/// waits) that took longer than allowed, by cause, and logs them for the operator. A turn is measured when it
/// has ended. Only turns on an executor of WatchLoop() are measured. Loop thread only; outlives these
/// executors.
class LoopWatch {
 public:
  using Duration = std::chrono::steady_clock::duration;

  struct Stalls {
    std::int64_t count = 0;
    Duration longest{};
    friend bool operator==(const Stalls&, const Stalls&) = default;
  };

  /// The longest turn that is allowed: other clients do not notice it.
  static constexpr std::chrono::milliseconds kTurnMax{50};
  /// The number of causes that are counted by name; the rest is counted as "other".
  static constexpr std::size_t kCausesMax = 200;
  /// Minimum time between two log lines about the same cause.
  static constexpr std::chrono::seconds kSayPause{10};

  explicit LoopWatch(Duration turn_max = kTurnMax);

  /// Records a turn that took this long and ended at `now`.
  void Took(std::string_view cause, Duration took, std::chrono::steady_clock::time_point now);

  /// The stalls by cause; causes without a stall are not included.
  [[nodiscard]] const std::map<std::string, Stalls, std::less<>>& stalls() const noexcept { return stalls_; }
  /// The longest turn, even if it was not too long.
  [[nodiscard]] Duration longest() const noexcept { return longest_; }

 private:
  struct LastLog {
    std::chrono::steady_clock::time_point at;
    std::int64_t count = 0;  ///< stalls that had been logged by then
  };
  void Say(const std::string& cause, const Stalls& stalls, Duration took,
           std::chrono::steady_clock::time_point now);

  Duration turn_max_;
  Duration longest_{};
  std::map<std::string, Stalls, std::less<>> stalls_;
  std::map<std::string, LastLog, std::less<>> said_;
};

}  // namespace trainyard
