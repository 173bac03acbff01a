#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace trainyard {

/// Names what blocks the loop: counts the turns (one handler, or one piece of a coroutine between two waits)
/// that took longer than allowed, by what they were doing, and tells the operator's log. A turn is judged
/// when it has ended. Only what runs on an executor of WatchLoop() is seen. Loop thread only; outlives what
/// it watches.
class LoopWatch {
 public:
  using Duration = std::chrono::steady_clock::duration;

  struct Stalls {
    std::int64_t count = 0;
    Duration longest{};
    friend bool operator==(const Stalls&, const Stalls&) = default;
  };

  /// How long a turn may take: other clients do not notice it.
  static constexpr std::chrono::milliseconds kTurnMax{50};
  /// How many causes are counted by name; the rest is "other".
  static constexpr std::size_t kCausesMax = 200;
  /// Between two lines about the same cause.
  static constexpr std::chrono::seconds kSayPause{10};

  explicit LoopWatch(Duration turn_max = kTurnMax);

  /// A turn that took this long and ended at `now`.
  void Took(std::string_view cause, Duration took, std::chrono::steady_clock::time_point now);

  /// By cause; only those that stalled.
  [[nodiscard]] const std::map<std::string, Stalls, std::less<>>& stalls() const noexcept { return stalls_; }
  /// The longest turn of all, also one that was short enough.
  [[nodiscard]] Duration longest() const noexcept { return longest_; }

 private:
  struct Said {
    std::chrono::steady_clock::time_point at;
    std::int64_t count = 0;  ///< stalls that had been logged by then
  };
  void Say(const std::string& cause, const Stalls& stalls, Duration took,
           std::chrono::steady_clock::time_point now);

  Duration turn_max_;
  Duration longest_{};
  std::map<std::string, Stalls, std::less<>> stalls_;
  std::map<std::string, Said, std::less<>> said_;
};

}  // namespace trainyard
