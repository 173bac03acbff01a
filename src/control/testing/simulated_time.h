#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "base/clock.h"

namespace trainyard::control {

/// For the simulation: time that passes only when it is told to, and work of thread pools that runs on the
/// loop, in an order that depends on the seed alone. A program that links this file has no other clock and no
/// other pools: it defines clock_gettime() and RunOnPool() for all of it. One at a time; one thread.
class SimulatedTime final : public Clock {
 public:
  SimulatedTime(boost::asio::io_context& loop, std::uint64_t seed);
  ~SimulatedTime() override;
  SimulatedTime(const SimulatedTime&) = delete;
  SimulatedTime& operator=(const SimulatedTime&) = delete;

  /// As the machine's clock shows it, which may be wrong.
  [[nodiscard]] SysTime Now() const override;
  /// It never goes back.
  [[nodiscard]] SysTime TrueNow() const;
  /// From now on the machine's clock is ahead by `error`; negative: behind.
  void SetClockError(std::chrono::nanoseconds error);
  /// When the clock showed `shown`; the first such time that is not before `earliest`. `earliest`: never.
  [[nodiscard]] SysTime TrueTimeOf(SysTime shown, SysTime earliest) const;

  /// Runs what is ready; if nothing is, lets time pass until something is, for at most `wait_max`. Returns
  /// whether anything ran.
  bool Step(std::chrono::nanoseconds wait_max);
  /// From now on pools work at once, for as long as this is set: what waits is done first. For the end of a
  /// server, which waits for them.
  void SetImmediate(bool immediate);
  /// For work of a pool while it runs: its caller gets the result so much later. Other work may run
  /// meanwhile.
  void AnswerLater(std::chrono::nanoseconds delay);
  /// From now on each work of a pool takes up to two seconds longer.
  void SetSlow(bool slow);
  /// Lets time pass while nobody else can do anything.
  void Pass(std::chrono::nanoseconds duration);
  [[nodiscard]] std::mt19937_64& random() noexcept { return random_; }

 private:
  struct Showing {
    SysTime since;  ///< true time
    std::chrono::nanoseconds error;
  };

  boost::asio::io_context& loop_;
  std::mt19937_64 random_;
  std::vector<Showing> showings_;
};

}  // namespace trainyard::control
